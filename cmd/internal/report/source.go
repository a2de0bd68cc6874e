package report

import (
	"mafalda/cmd/internal/document"
	"mafalda/export"
	"mafalda/study"
)

// Source is what was read of a folder. What is not there is nil or empty.
type Source struct {
	Dir      string
	Study    *Study             // of the folder of a study
	Export   *export.Export     // of an export
	Document *document.Document // what the results say
	Command  []string           // of results that are neither of a study nor an export
}

// Study is the content of study.json.
type Study struct {
	Name     string       `json:"study"`
	Inputs   study.Inputs `json:"inputs"`
	Commands [][]string   `json:"commands"`
}
