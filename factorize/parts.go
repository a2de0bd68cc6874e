package factorize

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/strategy"
	"mafalda/study"
)

// Part is a piece of the work of Nodes.Optimize as plain data, and all that its result depends on besides those: the search for the best
// strategy of some nodes, or a bound for the best of one.
type Part struct {
	Nodes []int  `json:"nodes"`
	Start string `json:"start"` // SHA-256 of the strategy that the search starts from, or that proves the bound

	// Gap is the relative gap at which the search stops. 0 asks for no search, but for the bound that Start proves.
	Gap float64 `json:"gap,omitempty"`
}

// Found is the result of a Part as plain data.
type Found struct {
	// Strategy is the lower triangle of C row by row, each number the 8 bytes of its IEEE 754 form, the least
	// significant first; empty: the nodes keep the shared strategy, or there was nothing to search for.
	Strategy   []byte       `json:"strategy,omitempty"`
	LowerBound float64      `json:"lower_bound"` // lower bound of the loss of the part's nodes together
	Iterations int          `json:"iterations,omitempty"`
	Status     optim.Status `json:"status,omitempty"`
}

// Parts computes parts, here by compute or elsewhere by the same Nodes' compute, and returns what each has found. It is
// called several times where parts need what others found, and may be asked again for known parts. Its error ends
// Optimize, which returns it. No results, where others have yet to compute some, end Optimize without a Split.
type Parts func(ctx context.Context, parts []Part, compute func(context.Context, Part) (Found, error)) ([]Found, error)

// computeParts is Parts on this machine, several at a time.
func computeParts(
	ctx context.Context, parts []Part, compute func(context.Context, Part) (Found, error),
) ([]Found, error) {
	all, errs := make([]Found, len(parts)), make([]error, len(parts))
	parallel.For(len(parts), func(i int) { all[i], errs[i] = compute(ctx, parts[i]) })
	return all, errors.Join(errs...)
}

// solve optimizes a strategy for each group, from the given ones, or from the shared one; nil where others have yet to
// compute some.
func (s *splitter) solve(ctx context.Context, groups [][]int, from []*part, gap float64) ([]*part, error) {
	parts := make([]Part, len(groups))
	at := map[int]int{} // groups by their first node
	for i, members := range groups {
		parts[i] = Part{members, s.nameOf(s.start(from, i)), gap}
		at[members[0]] = i
	}
	s.rounds.begin(len(groups))
	all, err := s.Parts(ctx, parts, func(ctx context.Context, p Part) (f Found, err error) {
		i := at[p.Nodes[0]]
		r, err := s.search(ctx, groups[i], s.start(from, i), gap)
		if err == nil && ctx.Err() != nil && !s.here {
			err = context.Cause(ctx) // what was found is not what would have been
		}
		if r != nil && err == nil {
			f = Found{triangle(r.Strategy), r.LowerBound, r.Iterations, r.Status}
		}
		if s.here {
			s.rounds.countDescent(f.Iterations, 0)
		}
		return f, err
	})
	if err != nil || all == nil {
		return nil, err
	}
	solved := make([]*part, len(groups))
	for i, f := range all {
		r, err := f.result(s.Shared)
		if err == nil {
			solved[i], err = s.measure(groups[i], r)
		}
		if err != nil {
			return nil, err
		}
	}
	return solved, nil
}

// nodeBounds returns, for every node, a lower bound of the loss of any strategy of its own; nil where others have yet to
// compute some.
func (s *splitter) nodeBounds(ctx context.Context, parts []*part) ([]float64, error) {
	asked := make([]Part, len(s.Grams))
	of := make([]*part, len(s.Grams))
	for _, p := range parts {
		start := s.nameOf(p.Strategy)
		for _, i := range p.members {
			asked[i], of[i] = Part{Nodes: []int{i}, Start: start}, p
		}
	}
	all, err := s.Parts(ctx, asked, func(_ context.Context, p Part) (Found, error) {
		i := p.Nodes[0]
		bound, err := LowerBound(s.Grams[i], strategy.GramOf(of[i].Strategy), s.schema)
		if err != nil {
			bound = 0 // its group's strategy proves none
		}
		return Found{LowerBound: bound}, nil
	})
	if err != nil || all == nil {
		return nil, err
	}
	return lists.Map(all, func(f Found) float64 { return f.LowerBound }), nil
}

// triangle returns the bytes of C: see Found.
func triangle(c strategy.Strategy) []byte {
	var bytes []byte
	lower := strategy.LowerOf(c).RawTriangular()
	for t := range lower.N {
		bytes, _ = binary.Append(bytes, binary.LittleEndian, lower.Data[t*lower.Stride:][:t+1]) // numbers never fail
	}
	return bytes
}

// nameOf names a strategy by all its bits, for others.
func (s *splitter) nameOf(c strategy.Strategy) string {
	if s.here {
		return ""
	}
	d := study.NewDigest()
	d.Bytes(triangle(c))
	return d.Sum()
}

// result returns what was found, or the shared strategy.
func (f Found) result(shared strategy.Strategy) (*Result, error) {
	steps := shared.Steps()
	if len(f.Strategy) == 0 {
		return &Result{Strategy: shared, Status: optim.Converged}, nil
	}
	if len(f.Strategy) != 4*steps*(steps+1) {
		return nil, fmt.Errorf("the strategy of a part has %d bytes, which is not that of %d steps", len(f.Strategy), steps)
	}
	lower := mat.NewTriDense(steps, mat.Lower, nil)
	at, raw := f.Strategy, lower.RawTriangular()
	for t := range steps {
		read, _ := binary.Decode(at, binary.LittleEndian, raw.Data[t*raw.Stride:][:t+1]) // there are enough bytes
		at = at[read:]
	}
	c, err := strategy.NewDense(lower)
	return &Result{Strategy: c, LowerBound: f.LowerBound, Iterations: f.Iterations, Status: f.Status}, err
}
