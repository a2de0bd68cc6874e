package simulate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/plan"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/threat"
	"mafalda/workload"
)

// Methods whose neighbours share noise, against single curious nodes (SecLDP).
const (
	DECOR   = "decor"           // the best two constants, one for all nodes and one for all neighbours; C = I
	Secrets = "mafalda-secrets" // noise correlated over nodes and steps, each half certified for the other
)

// isShared reports whether it is one of these.
func isShared(name string) bool { return name == DECOR || name == Secrets }

// neighbour is a pair that a node has noise of, and with which weight.
type neighbour struct {
	pair   int
	weight float64 // ±deviation: positive at the smaller index
}

// WithShared returns the correlation for nodes that share noise: instead of rows of standard deviation one, own rows and
// pairs' rows have the given standard deviations. To be as private, no attacker may learn more of it than of noise of
// variance one: secrets.Noise.Worst of at most one. The error is another number of nodes.
func (c *Correlation) WithShared(noise *secrets.Noise) (*Correlation, error) {
	if err := noise.Check(); err != nil {
		return nil, err
	}
	if len(noise.Own) != len(c.of) {
		return nil, fmt.Errorf("noise of %d nodes for %d", len(noise.Own), len(c.of))
	}
	with := *c
	with.shared, with.by = noise, make([][]neighbour, len(c.of))
	for i, p := range noise.Pairs {
		if p.Deviation > 0 {
			with.by[p.U] = append(with.by[p.U], neighbour{i, p.Deviation})
			with.by[p.V] = append(with.by[p.V], neighbour{i, -p.Deviation})
		}
	}
	return &with, nil
}

// rowsTo writes Z of a node: its own rows, and those that it shares, which the other node makes from the same stream.
func (c *Correlation) rowsTo(dst []float32, node int, std float64, seed uint64) {
	own := std
	if c.shared != nil {
		own *= c.shared.Own[node]
	}
	r := random(seed, forNoise, uint64(node))
	for i := range dst {
		dst[i] = float32(own * r.NormFloat64())
	}
	if c.shared == nil {
		return
	}
	for _, n := range c.by[node] {
		weight, r := std*n.weight, random(seed, forPairs, uint64(n.pair))
		for i := range dst {
			dst[i] += float32(weight * r.NormFloat64())
		}
	}
}

// sharedBy returns the correlation with the noise of an export, if that hides as much as it says from those that it says.
func (s *Study) sharedBy(e *export.Export, c *Correlation) (*Correlation, error) {
	noise, err := e.SharedOn(s.network)
	if err != nil {
		return nil, err
	}
	if err := threat.Withstands(context.Background(), e); err != nil {
		return nil, err
	}
	return c.WithShared(noise)
}

// Sharing returns the methods of the study whose neighbours share noise, each with whom it protects against.
func (s *Study) Sharing() map[string]string {
	all := map[string]string{}
	for _, m := range s.methods {
		if isShared(m.name) && m.export == "" {
			all[m.name] = "single curious nodes"
		} else if m.against != "" {
			all[m.name] = m.against
		}
	}
	return all
}

// coalitionWords says against whom noise that nodes share is meant.
func coalitionWords(c export.Coalitions) string {
	switch c.Size {
	case 1:
		return "single curious nodes"
	case 2:
		return "any two curious nodes"
	}
	return fmt.Sprintf("%d coalitions of curious nodes", len(c.Sets))
}

// constantNoise returns the best two constants for a strategy, with neighbours that share noise against single nodes.
func (s *Study) constantNoise(ctx context.Context, c strategy.Strategy) (*secrets.Noise, error) {
	w, err := s.spaceTime()
	if err != nil {
		return nil, err
	}
	sharing, err := new(plan.Sharing).Resolve(s.network)
	if err != nil {
		return nil, err
	}
	p := spacetime.Problem{Workload: w, Schema: s.config.Schema, Class: factorize.Dense{}, Setting: sharing.Setting()}
	r, err := p.Constant(ctx, c)
	if err != nil {
		return nil, err
	}
	return r.Noise, nil
}

// spaceTime returns the workload over nodes and steps. The error is a fault.Argument of networks that change.
func (s *Study) spaceTime() (*workload.SpaceTime, error) {
	return workload.NewSpaceTime(s.config.Gossip, s.config.Schema.Steps(), workload.Options{Spec: s.config.trained()})
}

// sharedError returns tr(H(M) Y), of the C⁻¹ that runs use.
func (s *Study) sharedError(ctx context.Context, c *Correlation) (float64, error) {
	w, err := s.spaceTime()
	if err != nil {
		return 0, workload.ErrNotExact // a node that acts while others do not leaves noise behind
	}
	m := c.shared.Covariance()
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return 0, workload.ErrNotExact
	}
	h, err := w.TimeGram(ctx, m)
	if err != nil {
		return 0, err
	}
	return c.squaredError(0, h)
}
