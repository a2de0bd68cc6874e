package simulate

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/simulated"
	"mafalda/study"
	"mafalda/workload"
)

// Spec says which folders belong to the study. Files makes its summaries.
func (s *Study) Spec() study.Spec {
	c := s.config
	spec := study.Of("simulate")
	in := &spec.Inputs
	in.Add("task", c.Task.Name)
	in.Add("data", c.Task.Data)
	s.network.AddTo(in)
	in.Add("participation", c.Schema)
	in.Add("batches", c.Batches)
	in.Add("rounds", max(c.Workload.GossipRounds, 1))
	in.Add("learning rate", c.LearningRate)
	in.Add("clip", c.Clip)
	in.Add("adjacency", s.options.Adjacency)
	in.Add("delta", s.options.Delta)
	in.Add("test rows", c.TestRows)
	in.Add("steps between losses", c.Every)
	if !c.Workload.IsPlain() || c.Workload.Kind != workload.Model {
		in.Add("workload", c.Workload)
	}
	if s.byRate != nil {
		in.Add("tuned", "on the first half of the test records")
	}
	if s.options.Sampling != participation.InTurn {
		in.Add("sampling", s.options.Sampling)
		in.Add("bandwidth", s.options.Bandwidth)
	}
	if s.options.Sampling == participation.Bins {
		m := s.options.MonteCarlo.Filled()
		in.Add("samples", m.Samples)
		in.Add("failure", m.Failure)
		in.Add("seed of the samples", m.Seed)
	}
	spec.Summaries = []string{"runs.json", "simulate.csv"}
	return spec
}

// keptGrid is the content of runs.json.
type keptGrid struct {
	simulated.Mark
	Version  string       `json:"version"`
	Settings study.Inputs `json:"settings"` // all that runs depend on besides their cell
	Runs     []listedRun  `json:"runs"`
}

type listedRun struct {
	Cell // the run's cell; an export's method is its folder and the start of its files' digest, and Export is empty
	Result
}

// Files makes the summaries of all runs in a folder, other methods, levels and seeds included: runs.json and
// simulate.csv.
func (s *Study) Files(entries []study.Entry[Cell, Result]) ([]study.File, error) {
	kept := keptGrid{Mark: simulated.Noise(), Version: version.String(), Settings: s.Spec().Inputs}
	for _, e := range s.sorted(entries) {
		if digest := e.Cell.Export; digest != "" {
			e.Cell.Method, e.Cell.Export = e.Cell.Method+"#"+digest[:min(16, len(digest))], ""
		}
		kept.Runs = append(kept.Runs, listedRun{e.Cell, e.Result})
	}
	rows, err := s.Grid(entries).Rows(s.options.Delta)
	if err != nil {
		return nil, err
	}
	return []study.File{
		{Name: "runs.json", Write: func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) }},
		{Name: "simulate.csv", Write: func(w io.Writer) error { return WriteRows(w, rows) }},
	}, nil
}

// Grid returns all runs in a folder: methods of this study first.
func (s *Study) Grid(entries []study.Entry[Cell, Result]) *Grid {
	var cells []Cell
	var runs []Result
	for _, e := range s.sorted(entries) {
		cells, runs = append(cells, e.Cell), append(runs, e.Result)
	}
	return NewGrid(cells, runs)
}

// sorted returns the runs of a folder in the order of methods (this study's first), levels and seeds.
func (s *Study) sorted(entries []study.Entry[Cell, Result]) []study.Entry[Cell, Result] {
	names := MethodNames()
	place := func(c Cell) int {
		if at := s.methodOf(c); at >= 0 {
			return at
		}
		if at := slices.Index(names, c.Method); at >= 0 {
			return len(s.methods) + at
		}
		return len(s.methods) + len(names)
	}
	return slices.SortedFunc(slices.Values(entries), func(a, b study.Entry[Cell, Result]) int {
		x, y := a.Cell, b.Cell
		return cmp.Or(place(x)-place(y), cmp.Compare(x.Method, y.Method), cmp.Compare(x.Export, y.Export),
			cmp.Compare(x.level(), y.level()), cmp.Compare(x.Rate, y.Rate), cmp.Compare(x.Seed, y.Seed))
	})
}
