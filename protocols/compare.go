package protocols

import (
	"context"
	"errors"
	"fmt"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
	"mafalda/protocols/ppac"
	"mafalda/study"
)

// Comparison holds the protocols against each other: the same network, values and rounds.
type Comparison struct {
	Problem averaging.Problem // problem with a number of rounds
	Gossip  gossip.AverageOptions
	PPAC    ppac.AverageOptions
	DPPS    dpps.Problem // its Plan, Delta, Progress and Unsound: the rest is as in Problem, with Metropolis weights
}

// ComparedRounds is how many rounds are compared by default.
const ComparedRounds = 50

// The protocols that are compared.
const (
	Plain  = "no protection"
	Gossip = "gossip"
	PPAC   = "ppac"
	DPPS   = "dpps"
)

// Cell is a protocol.
type Cell struct {
	Protocol string `json:"protocol"`
}

// Outcome is what came of a protocol: one of the results, or why it has none.
type Outcome struct {
	Plain  *PlainResult   `json:"plain,omitempty"`
	Gossip *gossip.Result `json:"gossip,omitempty"`
	PPAC   *ppac.Result   `json:"ppac,omitempty"`
	DPPS   *dpps.Result   `json:"dpps,omitempty"`
	Failed string         `json:"failed,omitempty"` // a run whose noise was too small, or that left the range of numbers
}

// PlainResult is what consensus without protection does.
type PlainResult struct {
	Mean   float64   `json:"mean"`
	Errors []float64 `json:"errors"` // ‖v(t) - mean‖₂ of every round
}

// Errors returns the distance of the nodes from the average in every round; none of a run that failed.
func (o *Outcome) Errors() []float64 {
	switch {
	case o.Plain != nil:
		return o.Plain.Errors
	case o.Gossip != nil:
		return o.Gossip.Errors
	case o.PPAC != nil:
		return o.PPAC.Errors
	case o.DPPS != nil:
		return o.DPPS.Errors
	}
	return nil
}

// Check finds, before anything is computed, what makes no sense: the errors of averaging.Problem.Check, and a missing
// number of rounds (*fault.Argument).
func (c *Comparison) Check() error {
	if c.Problem.Rounds == nil {
		return fault.New("Rounds", nil, "how many are compared?")
	}
	if err := c.DPPS.Plan.Check(); err != nil {
		return err
	}
	return c.Problem.Check()
}

// Cells are the protocols, in the order in which they are shown.
func (c *Comparison) Cells() []Cell { return []Cell{{Plain}, {Gossip}, {PPAC}, {DPPS}} }

// Do runs a protocol. It fails as the protocol's package does; a failing DPPS is a result.
func (c *Comparison) Do(ctx context.Context, cell Cell) (o Outcome, err error) {
	switch cell.Protocol {
	case Plain:
		var run *gossip.Run
		if run, err = gossip.Plain(ctx, c.Problem); err == nil {
			o.Plain = &PlainResult{run.Mean, run.Errors()}
		}
	case Gossip:
		o.Gossip, err = gossip.Average(ctx, c.Problem, c.Gossip)
	case PPAC:
		var a *ppac.Averaging
		if a, err = ppac.Average(ctx, c.Problem, c.PPAC); err == nil {
			o.PPAC = &a.Result
		}
	case DPPS:
		o.DPPS, err = c.pushSum(ctx)
		if errors.Is(err, dpps.ErrDiverged) || errors.Is(err, dpps.ErrSensitivity) {
			return Outcome{Failed: err.Error()}, nil
		}
	default:
		err = fault.New("Protocol", cell.Protocol, "is none of those compared")
	}
	if err != nil {
		return Outcome{}, err
	}
	return o, nil
}

func (c *Comparison) pushSum(ctx context.Context) (*dpps.Result, error) {
	n := c.Problem.Network
	w, err := graph.NewGossip(n.Graph, graph.Metropolis)
	if err != nil {
		return nil, err
	}
	p := c.DPPS
	if p.Sequence, err = dpps.Static(n.Graph.Labels(), w); err != nil {
		return nil, err
	}
	p.Name, p.Values, p.Rounds, p.Seed = n.Origin.Source, c.Problem.Values, *c.Problem.Rounds, c.Problem.Seed
	return dpps.Average(ctx, p)
}

// Spec says whose a folder with outcomes is: all that they depend on.
func (c *Comparison) Spec() study.Spec {
	s, p := study.Of("average"), &c.Problem
	p.Network.AddTo(&s.Inputs)
	values, observers := study.NewDigest(), study.NewDigest()
	for _, v := range p.Values {
		values.Float(v)
	}
	observers.Lists(append([][]int{p.Victims, c.PPAC.Chosen}, p.Coalitions()...))
	for _, i := range []struct {
		name  string
		value any
	}{
		{"values", values.Sum()}, {"observers, victims and chosen neighbours", observers.Sum()},
		{"seed of the noise", p.Seed}, {"standard deviation of the values", p.ValueStd}, {"rounds", *p.Rounds},
		{"noise of gossip", c.Gossip.NoiseStd}, {"difference", c.Gossip.Difference}, {"delta of gossip", c.Gossip.Delta},
		{"noise of ppac", c.PPAC.NoiseStd}, {"b", c.DPPS.B}, {"noise rate", c.DPPS.NoiseRate}, {"sync", c.DPPS.Sync},
		{"estimate", fmt.Sprint(int(c.DPPS.Source), c.DPPS.Source)}, {"constants", c.DPPS.Constants},
		{"delta of dpps", c.DPPS.Delta},
	} {
		s.Inputs.Add(i.name, i.value)
	}
	s.Summaries = []string{ComparisonFile}
	return s
}

// ComparisonFile is the name of the file with a comparison in its folder.
const ComparisonFile = "average.json"
