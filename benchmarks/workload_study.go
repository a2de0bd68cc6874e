package benchmarks

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/participation"
)

// WorkloadSuite returns what workloads are compared on by default: built-in graphs, and a schema, T = 128.
func WorkloadSuite() (graphs []string, schema participation.Cyclic) {
	schema, err := participation.NewCyclic(128, 8, 16)
	if err != nil {
		panic("benchmarks: " + err.Error())
	}
	return []string{"florentine", "barabasi:100,3"}, schema
}

// WorkloadStudy is every workload on every network, as cells of package study: what the strategy costs that is optimal
// for plain training, what a centralized one costs that knows the optimizer, and the optimum. It is for one goroutine.
type WorkloadStudy struct {
	LeftOut []string // a sentence about each workload that some network does not have

	cells    []WorkloadCell
	cases    map[string]workloadCase // by their cells, as placeOf has them
	measurer *workloadMeasurer
	options  graph.NetworkOptions
	files    []study.File // of the matchings that networks are sequences of
}

// NewWorkloadStudy returns the study of networks, all loaded by these options but for the source. The errors are those
// of Workloads, and limits.ErrMemory for steps that memory does not hold.
func NewWorkloadStudy(networks []*graph.Network, schema participation.Cyclic, o graph.NetworkOptions) (*WorkloadStudy,
	error) {
	s := &WorkloadStudy{cases: map[string]workloadCase{}, measurer: newWorkloadMeasurer(), options: o}
	steps := schema.Steps()
	if err := limits.Fits(fmt.Sprintf("T = %d", steps), searchBytes(steps)); err != nil {
		return nil, err
	}
	for _, n := range networks {
		lines, leftOut, err := Workloads(n, steps, o.Seed)
		if err != nil {
			return nil, err
		}
		for _, text := range leftOut {
			s.LeftOut = append(s.LeftOut, n.Origin.Source+": "+text)
		}
		for _, l := range lines {
			c := WorkloadCell{Graph: n.Origin.Source, SHA256: n.Origin.SHA256, Digest: n.Digest(),
				K: schema.Participations(), B: schema.Separation(), Workload: l.Name, Spec: l.Spec}
			if _, twice := s.cases[placeOf(c)]; !twice {
				s.cells = append(s.cells, c)
				s.cases[placeOf(c)] = workloadCase{l, n, schema}
			}
		}
		f := matchingsFile(n, o.Seed)
		if !slices.ContainsFunc(s.files, func(other study.File) bool { return other.Name == f.Name }) {
			s.files = append(s.files, f)
		}
	}
	return s, nil
}

// matchingsFile is a sequence of networks as a file, to go on with.
func matchingsFile(n *graph.Network, seed uint64) study.File {
	return study.File{Name: "matchings-" + n.Digest()[:8] + ".edges", Write: func(w io.Writer) error {
		return graph.WriteMatchings(w, n.Graph, graph.Matchings(n.Graph, suiteMatchings, seed))
	}}
}

// placeOf returns all that is in a cell.
func placeOf(c WorkloadCell) string {
	return fmt.Sprintf("%q %s %s %d %d %q %s", c.Graph, c.SHA256, c.Digest, c.K, c.B, c.Workload, c.Spec)
}

// Cells are the rows of the study, network by network.
func (s *WorkloadStudy) Cells() []WorkloadCell { return s.cells }

// Do measures a cell. It fails for a cell of other cases, if a Gram matrix or a search fails, or when ctx ends.
func (s *WorkloadStudy) Do(ctx context.Context, c WorkloadCell) (WorkloadRow, error) {
	at, ok := s.cases[placeOf(c)]
	if !ok {
		return WorkloadRow{}, fmt.Errorf("%s on %s is no cell of these cases", c.Workload, c.Graph)
	}
	r, err := s.measurer.measure(ctx, c, at)
	if err != nil {
		return r, fmt.Errorf("%s, k = %d, b = %d: %s: %w", c.Graph, c.K, c.B, c.Workload, err)
	}
	return r, nil
}

// Spec says which folders belong to the study. Files makes its summaries.
func (s *WorkloadStudy) Spec() study.Spec {
	spec := study.Of("benchmark of workloads")
	spec.Inputs.Add("gossip", s.options.Scheme)
	spec.Inputs.Add("seed", s.options.Seed)
	spec.Inputs.Add("directed", s.options.Directed)
	spec.Summaries = []string{"workloads.json", "workloads.csv"}
	for _, f := range s.files {
		spec.Summaries = append(spec.Summaries, f.Name)
	}
	return spec
}

// WorkloadTable is rows, and what all of them depend on: the content of workloads.json.
type WorkloadTable struct {
	Version string        `json:"version"`
	Gossip  string        `json:"gossip"`
	Seed    uint64        `json:"seed"` // of random graphs, and of matchings
	Rows    []WorkloadRow `json:"rows"`
}

// Table returns rows of the study with what they depend on.
func (s *WorkloadStudy) Table(rows []WorkloadRow) *WorkloadTable {
	return &WorkloadTable{Version: version.String(), Gossip: s.options.Scheme.String(), Seed: s.options.Seed, Rows: rows}
}

// Files makes the summaries of all rows in a folder, other networks' rows included: workloads.json, workloads.csv, and
// the matchings of the networks of this study, as sequences that graph.LoadSequence reads.
func (s *WorkloadStudy) Files(entries []study.Entry[WorkloadCell, WorkloadRow]) ([]study.File, error) {
	rows := s.Rows(entries)
	return append([]study.File{study.JSONFile("workloads.json", s.Table(rows)),
		{Name: "workloads.csv", Write: func(w io.Writer) error { return WriteWorkloads(w, rows) }}}, s.files...), nil
}

// Rows returns all rows of a folder: first the rows of this study's cells, in their order, then the others by graph.
func (s *WorkloadStudy) Rows(entries []study.Entry[WorkloadCell, WorkloadRow]) []WorkloadRow {
	place := map[string]int{}
	for i, c := range s.cells {
		place[placeOf(c)] = i - len(s.cells)
	}
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b study.Entry[WorkloadCell, WorkloadRow]) int {
		x, y := a.Cell, b.Cell
		return cmp.Or(place[placeOf(x)]-place[placeOf(y)], cmp.Compare(x.Graph, y.Graph), cmp.Compare(x.SHA256, y.SHA256),
			cmp.Compare(x.Digest, y.Digest), x.K-y.K, x.B-y.B, cmp.Compare(x.Workload, y.Workload))
	})
	var rows []WorkloadRow
	for _, e := range sorted {
		rows = append(rows, e.Result)
	}
	return rows
}

// WriteWorkloads writes a line of CSV a row, with a header and all digits, but of seconds.
func WriteWorkloads(w io.Writer, rows []WorkloadRow) error {
	lines := [][]string{{"graph", "nodes", "k", "b", "workload", "loss", "lower_bound", "gap", "plain_strategy_loss",
		"plain_strategy_excess", "centralized_loss", "centralized_excess", "seconds", "workload_spec", "graph_sha256"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }
	for _, r := range rows {
		spec, err := r.Spec.MarshalJSON()
		if err != nil {
			return err
		}
		lines = append(lines, []string{r.Graph, strconv.Itoa(r.Nodes), strconv.Itoa(r.K), strconv.Itoa(r.B), r.Workload,
			number(r.Loss), number(r.LowerBound), number(r.Gap), number(r.PlainLoss), number(r.PlainExcess),
			allDigits(r.CentralizedLoss), allDigits(r.CentralizedExcess), strconv.FormatFloat(r.Seconds, 'g', 3, 64),
			string(spec), r.SHA256})
	}
	return csv.NewWriter(w).WriteAll(lines)
}
