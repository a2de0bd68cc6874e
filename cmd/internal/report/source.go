package report

import (
	"slices"
	"strings"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/study"
	"mafalda/threat"
)

// Source is what was read of a folder: one of the pointers, or none where a folder has pictures and tables alone.
type Source struct {
	Dir   string
	Study *Study // of folders that are those of a study

	Export     *export.Export
	Account    *Account
	Simulation *Simulation
	Benchmark  *benchmarks.Table
	Sampling   *Sampling
	Average    *Average
}

// Study is the content of study.json.
type Study struct {
	Name   string       `json:"study"`
	Inputs study.Inputs `json:"inputs"`
	Key    string       `json:"key"`
}

// Account is the content of account.json.
type Account struct {
	Version   string          `json:"version"`
	Settings  study.Inputs    `json:"settings"`
	Export    string          `json:"export"` // the folder of the strategy, as it was named; empty if the file does not say
	Attackers []threat.Report `json:"attackers"`
}

// Simulation is what a report needs of runs.json, and simulate.csv.
type Simulation struct {
	Version  string       `json:"version"`
	Note     string       `json:"note"`
	Settings study.Inputs `json:"settings"`
	Runs     []Run        `json:"runs"`
	Rows     []Row        `json:"-"` // of the table
}

// Run is a run of a method.
type Run struct {
	Method   string  `json:"method"`
	Mu       float64 `json:"mu"`
	Epsilon  float64 `json:"epsilon"`
	Sampling string  `json:"sampling"`
	Seed     uint64  `json:"seed"`
	Steps    []int   `json:"steps"` // after which there are losses, the last one among them
}

// Sampling is the content of sampling.json.
type Sampling struct {
	Version        string        `json:"version"`
	Graph          *graph.Origin `json:"graph"`
	Workload       string        `json:"workload"`
	Steps          int           `json:"T"`
	Participations int           `json:"k"`
	Separation     int           `json:"b"`
	Delta          float64       `json:"delta"`
	Rows           []struct {
		Epsilon float64                `json:"epsilon"`
		Cyclic  float64                `json:"cyclic_error_at_privacy"`
		Best    benchmarks.AtPrivacy   `json:"best"`
		Bands   []benchmarks.AtPrivacy `json:"bands"`
	} `json:"rows"`
}

// Average is what a report needs of average.json. Values of nodes are secrets, and are not read.
type Average struct {
	Note      string   `json:"note"`
	Protocol  string   `json:"protocol"` // empty: Protocols were compared
	Graph     string   `json:"graph"`
	Nodes     int      `json:"nodes"`
	Edges     int      `json:"edges"`
	Gossip    string   `json:"gossip"`
	Seed      uint64   `json:"seed"`
	ValueStd  float64  `json:"value_std"`
	NoiseStd  float64  `json:"noise_std"`
	Rounds    any      `json:"rounds"`
	Mu        *float64 `json:"mu"`
	Epsilon   *float64 `json:"epsilon"`
	Delta     float64  `json:"delta"`
	Recovered []struct {
		Observer, Victim string
	} `json:"recovered"`
	Pairs []struct {
		Observer string `json:"observer"`
		Victim   string `json:"victim"`
		Leakage  any    `json:"leakage"` // nats, or "inf"
	} `json:"pairs"`
	Protocols []struct {
		Protocol string `json:"protocol"`
	} `json:"protocols"`
}

// Row is a line of a table by its column names.
type Row map[string]string

// Kind says what the folder is.
func (s *Source) Kind() string {
	switch {
	case s.Export != nil:
		return "export"
	case s.Account != nil:
		return "account"
	case s.Simulation != nil:
		return "simulation"
	case s.Benchmark != nil:
		return "benchmark"
	case s.Sampling != nil:
		return "comparison of batches"
	case s.Average != nil:
		return "private averaging"
	case s.Study != nil:
		return strings.TrimPrefix(s.Study.Name, "mafalda ")
	}
	return "pictures"
}

// Version returns the version of the program that wrote the folder, or an empty string if the folder does not say.
func (s *Source) Version() string {
	switch {
	case s.Export != nil:
		return s.Export.Manifest.Version
	case s.Account != nil:
		return s.Account.Version
	case s.Simulation != nil:
		return s.Simulation.Version
	case s.Benchmark != nil:
		return s.Benchmark.Version
	case s.Sampling != nil:
		return s.Sampling.Version
	}
	return Setting(s.inputs(), "program")
}

// inputs returns the inputs of the study, or nil without a study.
func (s *Source) inputs() study.Inputs {
	switch {
	case s.Account != nil:
		return s.Account.Settings
	case s.Simulation != nil:
		return s.Simulation.Settings
	case s.Study != nil:
		return s.Study.Inputs
	}
	return nil
}

// Setting returns the value of an input; empty if it is not there.
func Setting(in study.Inputs, name string) string {
	i := slices.IndexFunc(in, func(i study.Input) bool { return i.Name == name })
	if i < 0 {
		return ""
	}
	return in[i].Value
}

// listed returns how many cells are in the tables; -1 if that is not known.
func (s *Source) listed() int {
	switch {
	case s.Account != nil:
		return len(s.Account.Attackers)
	case s.Simulation != nil:
		return len(s.Simulation.Runs)
	case s.Benchmark != nil:
		return len(s.Benchmark.Rows)
	}
	return -1
}
