package main

import (
	"encoding/json"

	"mafalda/internal/cli"
	"mafalda/internal/study"
	"mafalda/participation"
)

// addSchema adds who takes part when: of a file its patterns, not its name.
func addSchema(in *study.Inputs, f *cli.SchemaFlags, s participation.Schema) {
	p := f.Describe(s)
	p.Source = ""
	text, _ := json.Marshal(p) // numbers and a name
	in.Add("T", s.Steps())
	in.Add("participation", string(text))
}
