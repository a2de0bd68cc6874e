package export

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"mafalda/participation"
	"mafalda/study"
)

// Participation is the schema.
type Participation struct {
	Schema   string  `json:"schema" verify:"exactly in schema" in:"cyclic single min-sep patterns people silo"` // cyclic, min-sep, single, patterns, people or silo
	K        int     `json:"k" verify:"exactly in schema" in:"[1,)"`
	B        int     `json:"b" verify:"exactly in schema" in:"[1,)"`
	Source   string  `json:"source,omitempty" verify:"exactly in schema"`                   // the file of patterns
	Patterns [][]int `json:"patterns,omitempty" verify:"exactly in schema"`                 // what was in it, steps counted from 0
	Batches  int     `json:"person_batches,omitempty" verify:"exactly in schema" in:"[1,)"` // how many of the b batches may hold records of one person; 0 but for people
}

// Of returns the schema over T = steps. It fails for a name that package participation does not know, and as that
// package's constructors do.
func (p Participation) Of(steps int) (participation.Schema, error) {
	switch p.Schema {
	case "cyclic", "single":
		return participation.NewCyclic(steps, p.K, p.B)
	case "min-sep":
		return participation.NewMinSep(steps, p.K, p.B)
	case "patterns":
		return participation.NewPatternList(steps, p.Patterns)
	case "people":
		cycle, err := participation.NewCyclic(steps, p.K, p.B)
		if err != nil {
			return nil, err
		}
		return participation.NewPeople(cycle, p.Batches)
	case "silo":
		return participation.NewSilo(steps)
	}
	return nil, fmt.Errorf("%w: unknown schema %q", participation.ErrSchema, p.Schema)
}

// DescribeSchema returns what a manifest says of a schema; source is the path of the file that patterns came from, of
// which the name is kept; empty if they came from none.
func DescribeSchema(source string, s participation.Schema) Participation {
	p := Participation{Schema: s.Name(), K: s.Participations(), B: s.Separation()}
	if people, ok := s.(*participation.People); ok {
		p.K, p.B, p.Batches = people.Cycle().Participations(), people.Cycle().Separation(), people.Batches()
	}
	if list, ok := s.(*participation.PatternList); ok {
		p.Patterns = list.Patterns()
		if source != "" {
			p.Source = filepath.Base(source)
		}
	}
	return p
}

// Unit returns who is protected: "person", "silo", with its whole update in every round, or "record".
func (p Participation) Unit() string {
	switch p.Schema {
	case "people":
		return "person"
	case "silo":
		return p.Schema
	}
	return "record"
}

// AddTo adds who takes part when, over these steps, to the inputs of a study: of patterns themselves, not the name of
// their file.
func (p Participation) AddTo(in *study.Inputs, steps int) {
	p.Source = ""
	text, _ := json.Marshal(p) // numbers and a name
	in.Add("T", steps)
	in.Add("participation", string(text))
}
