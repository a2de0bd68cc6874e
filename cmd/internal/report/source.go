package report

import (
	"mafalda/cmd/internal/document"
	"mafalda/export"
	"mafalda/study"
)

// Source is what was read of a folder. What is not there is nil or empty.
type Source struct {
	Dir      string
	Study    *Study             // the study of the folder; nil for others
	Export   *export.Export     // the export in the folder; nil for others
	Document *document.Document // what the results say
	Commands [][]string         // commands that have made it, as far as they are known
}

// Study is the content of study.json.
type Study struct {
	Name     string       `json:"study"`
	Inputs   study.Inputs `json:"inputs"`
	Commands [][]string   `json:"commands"`
}
