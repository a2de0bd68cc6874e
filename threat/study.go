package threat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/parallel"
	"mafalda/study"
)

// Study is Assess, or Growth, for many attackers of one scenario, as cells of package study: every process that makes
// the same study computes the same cells, which are plain data.
type Study struct {
	scenario Scenario
	options  AssessOptions
	number   map[string]int // the number of the node with a label
}

// Cell is an attacker: the labels of its nodes in the order of the graph, none for everybody.
type Cell struct {
	Attacker []string `json:"attacker"`
}

// GrowthCell is an attacker, and a number of steps.
type GrowthCell struct {
	Cell
	Steps int `json:"steps"`
}

// NewStudy returns the study of a scenario, whose attacker has no nodes: it says what the attackers of the cells see
// and know. Local DP is computed, for all of them. Errors: a fault.Argument that names the field of the options,
// strategies that do not fit (ErrStrategy), limits.ErrMemory for views that memory does not hold, and the cause of the
// context, soon after it has ended.
func NewStudy(ctx context.Context, s Scenario, o AssessOptions) (*Study, error) {
	err := fault.First(s.given, func() error { return o.check(s) }, func() error { return s.Algorithm.CheckNodes(o.Graph) },
		func() error {
			what := fmt.Sprintf("the view of an attacker of %d nodes in %d steps", s.nodes(), s.steps())
			return limits.Fits(what, s.Needs()+o.needs(s))
		}, func() (err error) {
			o.Local, err = parallel.Abandonable(ctx, func(context.Context) (float64, error) { return s.Algorithm.Local(s.Schema) })
			return err
		})
	if err != nil {
		return nil, err
	}
	out := &Study{scenario: s, options: o, number: map[string]int{}}
	for v, label := range o.Graph.Labels() {
		out.number[label] = v
	}
	return out, nil
}

// Local returns the squared sensitivity of local DP: see Algorithm.Local.
func (s *Study) Local() float64 { return s.options.Local }

// Cell returns the cell of an attacker: a coalition is the same in any order.
func (s *Study) Cell(nodes []int) Cell {
	c := Cell{Attacker: []string{}}
	for _, v := range slices.Sorted(slices.Values(nodes)) {
		c.Attacker = append(c.Attacker, s.options.Graph.Label(v))
	}
	return c
}

// attacked returns the scenario of a cell.
func (s *Study) attacked(c Cell) (Scenario, error) {
	one := s.scenario
	for _, label := range c.Attacker {
		v, there := s.number[label]
		if !there {
			return one, fmt.Errorf("%w: the graph has no node %s", ErrAttacker, label)
		}
		one.Attacker.Nodes = append(one.Attacker.Nodes, v)
	}
	return one, nil
}

// Assess computes a cell: see the function Assess, whose errors it has, with the attacker named.
func (s *Study) Assess(ctx context.Context, c Cell) (Report, error) {
	one, err := s.attacked(c)
	if err != nil {
		return Report{}, err
	}
	r, err := Assess(ctx, one, s.options)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrStrategy) {
		err = fmt.Errorf("accounting for %s: %w", one.Attacker.Name(s.options.Graph), err)
	}
	return r, err
}

// Growth computes a cell: see the function Growth, whose errors it has, with the number of steps named.
func (s *Study) Growth(ctx context.Context, c GrowthCell) (GrowthRow, error) {
	one, err := s.attacked(c.Cell)
	if err != nil {
		return GrowthRow{}, err
	}
	row, err := Growth(ctx, one, c.Steps, s.options)
	if err != nil && !errors.Is(err, ErrStrategy) {
		err = fmt.Errorf("accounting for T = %d: %w", c.Steps, err)
	}
	return row, err
}

// AddTo adds all that the results of Growth depend on, besides the network and the cells.
func (s *Study) AddTo(in *study.Inputs) {
	a, attacker := s.scenario.Algorithm, s.scenario.Attacker
	in.Add("algorithm", a.name)
	in.Add("strategy", a.digest())
	in.Add("rounds", a.rounds)
	in.Add("own noise", a.alone)
	if a.levels != nil {
		d := study.NewDigest()
		for _, l := range a.levels {
			d.Float(l.Sigma)
			d.Float(l.Part)
		}
		in.Add("levels of nodes", d.Sum())
	}
	in.Add("shared noise", a.shared)
	in.Add("trust", attacker.Trust)
	if attacker.Any != nil {
		d := study.NewDigest()
		d.Lists(attacker.Any.Coalitions())
		in.Add("coalitions and their parts", d.Sum())
	}
	in.Add("secure summation", attacker.SecureSummation)
	in.Add("forget own noise", attacker.ForgetOwnNoise)
	in.Add("bound", s.options.Measure)
	if !attacker.Trust.Public() {
		in.Add("gradients", cmp.Or(s.options.Reaction.String(), "any"))
		in.Add("refined", s.options.Refine)
		in.Add("worst answers", s.options.Worst)
	}
	if t := a.training; t != nil {
		in.Add("workload", t.Spec)
		if t.Drawn() {
			in.Add("drawn by seed, beside what holds for all draws", t.Seed)
		}
	}
}

// AddPairsTo adds what the results of Assess depend on, besides that.
func (s *Study) AddPairsTo(in *study.Inputs) {
	export.DescribeSchema("", s.scenario.Schema).AddTo(in, s.scenario.steps())
	in.Add("sigma", s.options.Sigma)
	in.Add("delta", s.options.Delta)
	in.Add("alpha", s.options.Alpha)
}

// Workers returns how many attackers to compute at a time: as many as there are processors, and as have room in a
// quarter of the memory.
func (s *Study) Workers() int {
	have, _ := limits.Memory()
	return max(1, int(min(float64(have)/4/s.Memory(1), float64(runtime.GOMAXPROCS(0)))))
}

// Sort puts results in the order of the graph's nodes.
func (s *Study) Sort(entries []study.Entry[Cell, Report]) {
	slices.SortStableFunc(entries, func(a, b study.Entry[Cell, Report]) int {
		return slices.CompareFunc(a.Cell.Attacker, b.Cell.Attacker, func(x, y string) int {
			return s.number[x] - s.number[y]
		})
	})
}
