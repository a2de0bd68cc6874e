package main

import (
	"encoding/json"

	"mafalda/export"
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

// exportDigest is of an export whose hashes have been checked: they are in its manifest, and so the manifest
// stands for every byte.
func exportDigest(e *export.Export) (string, error) {
	d := study.NewDigest()
	text, err := json.Marshal(e.Manifest)
	d.Bytes(text)
	return d.Sum(), err
}
