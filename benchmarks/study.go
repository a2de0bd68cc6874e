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

// Cases returns the cases of a network, one a schema. The error is that of limits for steps that memory does not hold.
func Cases(n *graph.Network, schemas []participation.Cyclic) ([]Case, error) {
	digest := n.Digest()
	var cases []Case
	for _, s := range schemas {
		steps := s.Steps()
		need := 60 * 8 * float64(steps) * float64(steps) // matrices of T×T
		if err := limits.Fits(fmt.Sprintf("T = %d", steps), need); err != nil {
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
}

// NewStudy returns the study of cases whose networks were all loaded by these options, but for the source.
func NewStudy(cases []Case, networks graph.NetworkOptions) *Study {
	return &Study{cells: Cells(cases), measurer: NewMeasurer(cases), networks: networks}
}

// Cells are the rows of the study, case by case.
func (s *Study) Cells() []Cell { return s.cells }

// Know is Measurer.Know.
func (s *Study) Know(c Cell, r Row) { s.measurer.Know(c, r) }

// Do is Measurer.Measure.
func (s *Study) Do(ctx context.Context, c Cell) (Row, error) { return s.measurer.Measure(ctx, c) }

// Spec says whose the folder of the study is: what graphs there are is in its cells. Its summaries are those of Files.
func (s *Study) Spec() study.Spec {
	spec := study.Of("benchmark")
	spec.Inputs.Add("gossip", s.networks.Scheme)
	spec.Inputs.Add("seed", s.networks.Seed)
	spec.Inputs.Add("directed", s.networks.Directed)
	spec.Summaries = []string{"benchmark.json", "benchmark.csv"}
	return spec
}

// Table is rows, and what all of them depend on: the content of benchmark.json.
type Table struct {
	Version string `json:"version"`
	Gossip  string `json:"gossip"`
	Seed    uint64 `json:"seed"` // of random graphs
	Rows    []Row  `json:"rows"`
}

// Table returns rows of the study with what they depend on.
func (s *Study) Table(rows []Row) *Table {
	return &Table{Version: version.String(), Gossip: s.networks.Scheme.String(), Seed: s.networks.Seed, Rows: rows}
}

// Files are the summaries of all rows in a folder, those of other cases among them: benchmark.json and benchmark.csv.
func (s *Study) Files(entries []study.Entry[Cell, Row]) ([]study.File, error) {
	rows := s.Rows(entries)
	return []study.File{study.JSONFile("benchmark.json", s.Table(rows)),
		{Name: "benchmark.csv", Write: func(w io.Writer) error { return WriteRows(w, rows) }}}, nil
}

// Rows returns all rows of a folder: those of the cells of this study first, in their order, then others by graph.
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

// WriteRows writes a line of CSV a row, with a header and all digits, but of seconds.
func WriteRows(w io.Writer, rows []Row) error {
	lines := [][]string{{"graph", "k", "b", "strategy", "sens_squared", "sens_kind", "loss", "ratio", "lower_bound",
		"memory_floats", "seconds", "graph_sha256"}}
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }
	for _, r := range rows {
		lines = append(lines, []string{r.Graph, strconv.Itoa(r.K), strconv.Itoa(r.B), r.Strategy, float(r.SensSquared),
			r.SensKind, float(r.Loss), float(r.Ratio), float(r.LowerBound), strconv.Itoa(r.MemoryFloats),
			strconv.FormatFloat(r.Seconds, 'g', 3, 64), r.SHA256})
	}
	return csv.NewWriter(w).WriteAll(lines)
}
