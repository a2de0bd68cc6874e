package benchmarks

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/workload"
)

// Suite returns what is measured by default: built-in graphs, and schemas.
func Suite() (graphs []string, schemas []participation.Cyclic) {
	for _, kb := range []KB{{4, 16}, {20, 19}} {
		s, err := participation.NewCyclic(kb.Steps(), kb.K, kb.B)
		if err != nil {
			panic("benchmarks: " + err.Error())
		}
		schemas = append(schemas, s)
	}
	return []string{"florentine", "erdos:100,0.2", "cycle:100", "grid:12x12", "hypercube:7", "barabasi:148,12"}, schemas
}

// Cases returns the cases of a network, one a schema. It fails if memory does not hold the steps (package limits).
func Cases(n *graph.Network, schemas []participation.Cyclic) ([]Case, error) {
	digest := n.Digest()
	var cases []Case
	for _, s := range schemas {
		steps := s.Steps()
		if err := limits.Fits(fmt.Sprintf("T = %d", steps), searchBytes(steps)); err != nil {
			return nil, err
		}
		gram := func(ctx context.Context) (*mat.SymDense, error) {
			return workload.Gram(ctx, n.Gossip.Matrix(), steps, workload.Options{})
		}
		c := Case{Graph: n.Origin.Source, SHA256: n.Origin.SHA256, Digest: digest, Schema: s, Gram: gram}
		cases = append(cases, c)
	}
	return cases, nil
}

// Study is every strategy on every case, as cells of package study: every process that makes the same study measures
// the same cells, which are plain data. It is for one goroutine.
type Study struct {
	cells    []Cell
	measurer *Measurer
	networks graph.NetworkOptions
	levels   Privacies
}

// NewStudy returns the study of cases whose networks were all loaded by these options, but for the source. It fails as
// Privacies.Check does, and as bands.Noise.Multiplier does for levels that no noise meets.
func NewStudy(cases []Case, networks graph.NetworkOptions, levels Privacies) (*Study, error) {
	if err := levels.Check(); err != nil {
		return nil, err
	}
	s := &Study{cells: Cells(cases), measurer: NewMeasurer(cases, levels), networks: networks, levels: levels}
	for _, c := range cases {
		for _, epsilon := range levels.Epsilons {
			if _, err := s.measurer.noise.Multiplier(c.Schema, 1, epsilon, levels.Delta); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Cells are the rows of the study, case by case.
func (s *Study) Cells() []Cell { return s.cells }

// Levels are the levels of privacy that strategies are compared at.
func (s *Study) Levels() Privacies { return s.levels }

// Know is Measurer.Know.
func (s *Study) Know(c Cell, r Row) { s.measurer.Know(c, r) }

// Do is Measurer.Measure.
func (s *Study) Do(ctx context.Context, c Cell) (Row, error) { return s.measurer.Measure(ctx, c) }

// Spec says which folders belong to the study; its graphs are in the cells. Files makes its summaries.
func (s *Study) Spec() study.Spec {
	spec := study.Of("benchmark")
	spec.Inputs.Add("gossip", s.networks.Scheme)
	spec.Inputs.Add("seed", s.networks.Seed)
	spec.Inputs.Add("directed", s.networks.Directed)
	spec.Inputs.Add("epsilon", s.levels.Epsilons)
	spec.Inputs.Add("delta", s.levels.Delta)
	spec.Summaries = []string{"benchmark.json", "benchmark.csv"}
	return spec
}

// Table is rows, and what all of them depend on: the content of benchmark.json.
type Table struct {
	Version string `json:"version"`
	Gossip  string `json:"gossip"`
	Seed    uint64 `json:"seed"` // of random graphs

	Epsilons []float64 `json:"epsilons"`
	Delta    float64   `json:"delta"`
	Rows     []Row     `json:"rows"`
}

// Table returns rows of the study with what they depend on.
func (s *Study) Table(rows []Row) *Table {
	return &Table{Version: version.String(), Gossip: s.networks.Scheme.String(), Seed: s.networks.Seed,
		Epsilons: s.levels.Epsilons, Delta: s.levels.Delta, Rows: rows}
}

// Files makes the summaries of all rows in a folder, other cases' rows included: benchmark.json and benchmark.csv.
func (s *Study) Files(entries []study.Entry[Cell, Row]) ([]study.File, error) {
	rows := s.Rows(entries)
	return []study.File{study.JSONFile("benchmark.json", s.Table(rows)),
		{Name: "benchmark.csv", Write: func(w io.Writer) error { return WriteRows(w, rows, s.levels) }}}, nil
}

// Rows returns all rows of a folder: first the rows of this study's cells, in their order, then the others by graph.
func (s *Study) Rows(entries []study.Entry[Cell, Row]) []Row {
	place := map[Cell]int{}
	for i, c := range s.cells {
		place[c] = i - len(s.cells)
	}
	strategies := Strategies()
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b study.Entry[Cell, Row]) int {
		x, y := a.Cell, b.Cell
		return cmp.Or(place[x]-place[y], cmp.Compare(x.Graph, y.Graph), cmp.Compare(x.SHA256, y.SHA256),
			cmp.Compare(x.Digest, y.Digest), x.K-y.K, x.B-y.B,
			slices.Index(strategies, x.Strategy)-slices.Index(strategies, y.Strategy))
	})
	var rows []Row
	for _, e := range sorted {
		rows = append(rows, e.Result)
	}
	return rows
}

// WriteRows writes a line of CSV a row, with a header and all digits, but of seconds. For every ε there are columns with
// the error at that privacy, its ratio to the optimum's, and the bands of the best strategy, if batches are drawn in
// secret; what a row has nothing to say of is empty.
func WriteRows(w io.Writer, rows []Row, levels Privacies) error {
	header := []string{"graph", "k", "b", "strategy", "sens_squared", "sens_kind", "loss", "ratio", "lower_bound"}
	for _, epsilon := range levels.Epsilons {
		for _, what := range []string{"error_at_privacy", "ratio", "bands"} {
			header = append(header, fmt.Sprintf("%s_epsilon_%v", what, epsilon))
		}
	}
	lines := [][]string{append(header, "delta", "memory_floats", "seconds", "graph_sha256")}
	for _, r := range rows {
		line := []string{r.Graph, strconv.Itoa(r.K), strconv.Itoa(r.B), r.Strategy, allDigits(r.SensSquared),
			r.SensKind, allDigits(r.Loss), allDigits(r.Ratio), allDigits(r.LowerBound)}
		for _, at := range r.AtPrivacy {
			bands := ""
			if at.Bands > 0 {
				bands = strconv.Itoa(at.Bands)
			}
			line = append(line, allDigits(at.Error), allDigits(at.Ratio), bands)
		}
		lines = append(lines, append(line, allDigits(levels.Delta), strconv.Itoa(r.MemoryFloats),
			strconv.FormatFloat(r.Seconds, 'g', 3, 64), r.SHA256))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// allDigits prints a positive number; nothing for 0.
func allDigits(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 17, 64)
}
