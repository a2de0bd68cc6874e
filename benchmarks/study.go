package benchmarks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mafalda/factorize/bands"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/text"
	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/study"
)

// Suite returns what is measured by default: built-in graphs, and schemas.
func Suite() (graphs []string, schemas []participation.Cyclic) {
	graphs = []string{"florentine", "erdos:100,0.2", "cycle:100", "grid:12x12", "hypercube:7", "barabasi:148,12"}
	return graphs, suiteSchemas(KB{4, 16}, KB{20, 19})
}

// SuitePrivacies are the levels of a benchmark by default: ε = 0.5, 2 and 8, with δ = 1e-6.
func SuitePrivacies() plan.Privacies {
	return plan.Privacies{Epsilons: []float64{0.5, 2, 8}, Delta: 1e-6}
}

// suiteSchemas returns the schemas of participations that are known to be right.
func suiteSchemas(all ...KB) []participation.Cyclic {
	return lists.Map(all, func(kb KB) participation.Cyclic {
		s, err := participation.NewCyclic(kb.Steps(), kb.K, kb.B)
		if err != nil {
			panic("benchmarks: " + err.Error())
		}
		return s
	})
}

// Study is a table as cells of package study: every strategy, or every workload, on every network under every schema. Every
// process that makes the same study measures the same cells, which are plain data. It is for one goroutine.
type Study struct {
	Workloads bool     // a row is a workload, not a strategy
	LeftOut   []string // a sentence about each workload that some network does not have

	cells    []Cell
	problems map[string]plan.Problem // what is solved, by the texts of the cells
	options  graph.NetworkOptions
	levels   plan.Privacies
	files    []study.File // matchings that networks are sequences of

	dense map[Cell]Row // optima by their cells
	noise bands.Noise
	last  Cell // the optimum of what at is of
	at    *shared
}

// NewStudy returns the study of strategies on networks, all loaded by these options but for the source. It fails as
// plan.Privacies.Check does, as bands.Noise.Multiplier does for levels that no noise meets, and with limits.ErrMemory for steps
// that memory does not hold.
func NewStudy(networks []*graph.Network, schemas []participation.Cyclic, options graph.NetworkOptions, levels plan.Privacies) (*Study, error) {
	if err := levels.Check(); err != nil {
		return nil, err
	}
	s := &Study{options: options, levels: levels, dense: map[Cell]Row{}, noise: bands.Noise{}}
	for _, schema := range schemas {
		for _, epsilon := range levels.Epsilons {
			if _, err := s.noise.Multiplier(schema, 1, epsilon, levels.Delta); err != nil {
				return nil, err
			}
		}
	}
	return s, s.fill(networks, schemas, func(c Cell, p plan.Problem) error {
		p.Gram.Method = plan.GramExact
		for _, c.Strategy = range Strategies() {
			s.add(c, p)
		}
		return nil
	})
}

// NewWorkloadStudy returns the study of workloads on networks, all loaded by these options but for the source: what the
// strategy costs that is optimal for plain training, what a centralized one costs that knows the optimizer, and the
// optimum. The errors are Workloads' errors, and limits.ErrMemory for steps that memory does not hold.
func NewWorkloadStudy(networks []*graph.Network, schemas []participation.Cyclic, options graph.NetworkOptions) (*Study, error) {
	s := &Study{Workloads: true, options: options}
	return s, s.fill(networks, schemas, func(c Cell, p plan.Problem) error {
		lines, leftOut, err := Workloads(p.Network, p.Schema.Steps(), options.Seed)
		if err != nil {
			return err
		}
		for _, text := range leftOut {
			s.LeftOut = append(s.LeftOut, c.Graph+": "+text)
		}
		for _, l := range lines {
			c.Workload, c.Spec, p.Workload = l.Name, &l.Spec, l.Spec
			s.add(c, p)
		}
		f := matchingsFile(p.Network, options.Seed)
		if !slices.ContainsFunc(s.files, func(other study.File) bool { return other.Name == f.Name }) {
			s.files = append(s.files, f)
		}
		return nil
	})
}

// fill hands every network under every schema to add, with what its cells have in common.
func (s *Study) fill(networks []*graph.Network, schemas []participation.Cyclic, add func(Cell, plan.Problem) error) error {
	for _, n := range networks {
		digest := n.Digest()
		for _, schema := range schemas {
			p := plan.Problem{Network: n, Schema: schema}
			if err := p.Needs(plan.Options{}).Check(); err != nil {
				return err
			}
			if err := add(Cell{Graph: n.Origin.Source, SHA256: n.Origin.SHA256, Digest: digest, K: schema.Participations(),
				B: schema.Separation()}, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a cell, unless it is there.
func (s *Study) add(c Cell, p plan.Problem) {
	if s.problems == nil {
		s.problems = map[string]plan.Problem{}
	}
	if _, twice := s.problems[c.text()]; !twice {
		s.cells, s.problems[c.text()] = append(s.cells, c), p
	}
}

// Memory is about how many bytes measuring the cells takes.
func (s *Study) Memory() float64 {
	most := 0.0
	for _, p := range s.problems {
		most = max(most, p.Needs(plan.Options{}).Memory)
	}
	return most
}

// matchingsFile is a sequence of networks as a file, to go on with.
func matchingsFile(n *graph.Network, seed uint64) study.File {
	return study.File{Name: "matchings-" + n.Digest()[:8] + ".edges", Write: func(w io.Writer) error {
		return graph.WriteMatchings(w, n.Graph, graph.Matchings(n.Graph, suiteMatchings, seed))
	}}
}

// Cells are the rows of the study, case by case.
func (s *Study) Cells() []Cell { return s.cells }

// Levels are the levels of privacy that strategies are compared at.
func (s *Study) Levels() plan.Privacies { return s.levels }

// Know tells of a row that was measured earlier: optima are what strategies are compared with.
func (s *Study) Know(c Cell, r Row) {
	if c.Strategy == Dense {
		s.dense[c] = r
	}
}

// name returns the name of the summaries, without what they end in.
func (s *Study) name() string {
	if s.Workloads {
		return "workloads"
	}
	return "benchmark"
}

// Spec says which folders belong to the study; its graphs are in the cells. Files makes its summaries.
func (s *Study) Spec() study.Spec {
	spec := study.Of("benchmark")
	if s.Workloads {
		spec = study.Of("benchmark of workloads")
	}
	spec.Inputs.Add("gossip", s.options.Scheme)
	spec.Inputs.Add("seed", s.options.Seed)
	spec.Inputs.Add("directed", s.options.Directed)
	if !s.Workloads {
		spec.Inputs.Add("epsilon", s.levels.Epsilons)
		spec.Inputs.Add("delta", s.levels.Delta)
	}
	spec.Summaries = []string{s.name() + ".json", s.name() + ".csv"}
	for _, f := range s.files {
		spec.Summaries = append(spec.Summaries, f.Name)
	}
	return spec
}

// Table is rows, and what all of them depend on: the content of benchmark.json, or of workloads.json.
type Table struct {
	Version string `json:"version"`
	Gossip  string `json:"gossip"`
	Seed    uint64 `json:"seed"` // seed of random graphs and of matchings

	Epsilons []float64 `json:"epsilons,omitempty"` // levels of privacy that strategies are compared at
	Delta    float64   `json:"delta,omitempty"`
	Rows     []Row     `json:"rows"`
}

// Table returns rows of the study with what they depend on.
func (s *Study) Table(rows []Row) *Table {
	return &Table{Version: version.String(), Gossip: s.options.Scheme.String(), Seed: s.options.Seed,
		Epsilons: s.levels.Epsilons, Delta: s.levels.Delta, Rows: rows}
}

// Files makes the summaries of all rows in a folder, other cases' rows included: as JSON and as CSV, and the matchings
// of the networks of this study of workloads, as sequences that graph.LoadSequence reads.
func (s *Study) Files(entries []study.Entry[Cell, Row]) ([]study.File, error) {
	rows := s.Rows(entries)
	table := func(w io.Writer) error { return WriteRows(w, rows, s.levels) }
	if s.Workloads {
		table = func(w io.Writer) error { return WriteWorkloads(w, rows) }
	}
	return append([]study.File{study.JSONFile(s.name()+".json", s.Table(rows)), {Name: s.name() + ".csv", Write: table}},
		s.files...), nil
}

// Rows returns all rows of a folder: first the rows of this study's cells, in their order, then the others by graph.
func (s *Study) Rows(entries []study.Entry[Cell, Row]) []Row {
	place := map[string]int{}
	for i, c := range s.cells {
		place[c.text()] = i - len(s.cells)
	}
	strategies := Strategies()
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b study.Entry[Cell, Row]) int {
		x, y := a.Cell, b.Cell
		return cmp.Or(place[x.text()]-place[y.text()], cmp.Compare(x.Graph, y.Graph), cmp.Compare(x.SHA256, y.SHA256),
			cmp.Compare(x.Digest, y.Digest), x.K-y.K, x.B-y.B,
			slices.Index(strategies, x.Strategy)-slices.Index(strategies, y.Strategy), cmp.Compare(x.Workload, y.Workload))
	})
	return lists.Map(sorted, func(e study.Entry[Cell, Row]) Row { return e.Result })
}

// WriteRows writes a line of CSV a row, with a header and all digits, but of seconds. For every ε there are columns
// with the error at that privacy, its ratio to the optimum's, and the bands of the best strategy, if batches are drawn
// in secret; what a row has nothing to say of is empty.
func WriteRows(w io.Writer, rows []Row, levels plan.Privacies) error {
	names := "graph,k,b,strategy,sens_squared,sens_kind,loss,ratio,lower_bound"
	for _, epsilon := range levels.Epsilons {
		names += fmt.Sprintf(",error_at_privacy_epsilon_%[1]v,ratio_epsilon_%[1]v,bands_epsilon_%[1]v", epsilon)
	}
	lines := text.NewCSV(names + ",delta,memory_floats,seconds,graph_sha256")
	for _, r := range rows {
		line := []any{r.Graph, r.K, r.B, r.Strategy, positive(r.SensSquared), r.SensKind, positive(r.Loss), positive(r.Ratio),
			positive(r.LowerBound)}
		for _, at := range r.AtPrivacy {
			line = append(line, positive(at.Error), positive(at.Ratio), positive(at.Bands))
		}
		lines.Add(append(line, positive(levels.Delta), r.MemoryFloats, strconv.FormatFloat(r.Seconds, 'g', 3, 64), r.SHA256)...)
	}
	return lines.Write(w)
}

// WriteWorkloads writes a line of CSV a row, with a header and all digits, but of seconds.
func WriteWorkloads(w io.Writer, rows []Row) error {
	lines := text.NewCSV("graph,nodes,k,b,workload,loss,lower_bound,gap,plain_strategy_loss,plain_strategy_excess," +
		"centralized_loss,centralized_excess,seconds,workload_spec,graph_sha256")
	for _, r := range rows {
		spec, err := json.Marshal(r.Spec)
		if err != nil {
			return err
		}
		lines.Add(r.Graph, r.Nodes, r.K, r.B, r.Workload, r.Loss, r.LowerBound, r.Gap, r.PlainLoss,
			r.PlainExcess, positive(r.CentralizedLoss), positive(r.CentralizedExcess),
			strconv.FormatFloat(r.Seconds, 'g', 3, 64), string(spec), r.SHA256)
	}
	return lines.Write(w)
}

// positive returns a number; nil, whose cell is empty, for 0.
func positive[T int | float64](v T) any {
	if v == 0 {
		return nil
	}
	return v
}
