package simulate

import (
	"errors"
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/strategy"
)

// A Correlation is the strategies of all nodes, inverted and with their sensitivities, ready for many runs. It is immutable.
type Correlation struct {
	schema participation.Schema
	layers []layer
	of     []int          // node → layer
	shared *secrets.Noise // standard deviations of own rows and pairs' rows, in units of the Z of the others; nil: own ones
	by     [][]neighbour  // nodes that share noise with each node; nil unless noise is shared
	levels []level        // levels of the nodes; nil: all have one
}

// layer is what nodes with the same strategy share.
type layer struct {
	strategy    strategy.Strategy
	noising     blas32.Triangular // C⁻¹
	sens        float64           // sensitivity of C under the schema, rounded up
	bands       int               // w: C[t,s] = 0 for t-s ≥ w
	nonNegative bool              // C has no negative entries
}

// Shared is the strategy of every node.
func Shared(c strategy.Strategy) func(node int) strategy.Strategy {
	return func(int) strategy.Strategy { return c }
}

// NewCorrelation prepares the strategies of n nodes for noise under the schema. It fails for a strategy that is longer or
// shorter than the schema's T, for one that cannot be inverted, and if its sensitivity does. Nodes that are given the same
// strategy (pointer) share the work.
func NewCorrelation(nodes int, of func(node int) strategy.Strategy, schema participation.Schema) (*Correlation, error) {
	c := &Correlation{schema: schema, of: make([]int, nodes)}
	known := map[strategy.Strategy]int{}
	for u := range nodes {
		s := of(u)
		hashable := reflect.TypeOf(s).Comparable()
		if hashable {
			if at, ok := known[s]; ok {
				c.of[u] = at
				continue
			}
			known[s] = len(c.layers)
		}
		l, err := newLayer(s, schema)
		if err != nil {
			return nil, fmt.Errorf("strategy of node %d: %w", u, err)
		}
		c.of[u] = len(c.layers)
		c.layers = append(c.layers, l)
	}
	return c, nil
}

func newLayer(s strategy.Strategy, schema participation.Schema) (layer, error) {
	steps := schema.Steps()
	if s.Steps() != steps {
		return layer{}, fmt.Errorf("%w: it is for T = %d steps, the run has %d", participation.ErrViolated, s.Steps(), steps)
	}
	sens, err := strategy.Sensitivity(s, schema)
	if err != nil {
		return layer{}, err
	}
	var noising mat.TriDense
	if err := s.NoisingTo(&noising); err != nil {
		return layer{}, fmt.Errorf("inverting it: %w", err)
	}
	l := layer{strategy: s, sens: rounding.SqrtUp(sens.Squared), nonNegative: true}
	l.look(s)
	l.noising = blas32.Triangular{N: steps, Stride: steps, Uplo: blas.Lower, Diag: blas.NonUnit, Data: make([]float32, steps*steps)}
	for t := range steps {
		for r := range t + 1 {
			v := float32(noising.At(t, r))
			if v-v != 0 {
				return layer{}, fmt.Errorf("entry (%d,%d) of its inverse is %v", t, r, noising.At(t, r))
			}
			l.noising.Data[t*steps+r] = v
		}
	}
	return l, nil
}

// look finds bands and signs of C.
func (l *layer) look(s strategy.Strategy) {
	c := strategy.LowerOf(s)
	for t := range s.Steps() {
		for r := range t + 1 {
			v := c.At(t, r)
			if l.nonNegative = l.nonNegative && v >= 0; v != 0 {
				l.bands = max(l.bands, t-r+1)
			}
		}
	}
}

// Bands returns w, the most bands of a node's strategy.
func (c *Correlation) Bands() int {
	bands := 0
	for _, l := range c.layers {
		bands = max(bands, l.bands)
	}
	return bands
}

// Sensitivity returns sens(C) of the node's strategy.
func (c *Correlation) Sensitivity(node int) float64 { return c.layers[c.of[node]].sens }

// columns is how many coordinates are multiplied at once: T rows of 1024 stay in a cache.
const columns = 1024

// noiseTo writes the noise of a node, C⁻¹Z with standard deviation std of Z, to the T×d numbers dst. Z is drawn row by
// row, from the streams of a seed.
func (c *Correlation) noiseTo(dst []float32, node int, std float64, seed uint64) {
	c.rowsTo(dst, node, std, seed)
	steps := c.schema.Steps()
	d := len(dst) / steps
	for from := 0; from < d; from += columns {
		part := blas32.General{Rows: steps, Cols: min(columns, d-from), Stride: d, Data: dst[from:]}
		gemm.Trmm32(blas.Left, blas.NoTrans, 1, c.layers[c.of[node]].noising, part)
	}
}

// Noise is a correlation at a level of privacy.
type Noise struct {
	Correlation *Correlation
	Adjacency   accounting.Adjacency // which datasets are neighbours: zero-out unless set
	Mu          float64              // μ of Gaussian differential privacy; not where batches are drawn in secret

	// Multiplier is the standard deviation of Z for sums of gradients clipped to norm one by a strategy of sensitivity
	// one: what an accountant of batches drawn in secret says, which Mu does not describe. The sensitivity is that
	// under Correlation.Schema: single participation for participation.PoissonSampling, so that columns of norm one
	// have the sensitivity one; the steps of a bin for participation.BinsSampling.
	Multiplier float64
}

// std returns the standard deviation of the node's Z, for sums of gradients of norm clip, or its own level's share of
// that, that are divided by at least divisor, rounded up.
func (n *Noise) std(node int, divisor, clip float64) (float64, error) {
	sens, mu := n.Correlation.Sensitivity(node), n.Mu
	if n.Correlation.shared == nil {
		own := n.Correlation.level(node)
		mu, clip = mu*own.mu, clip*own.clip
	}
	contribution := n.Adjacency.Contribution(clip)
	if n.Multiplier > 0 {
		return rounding.DivUp(rounding.MulUp(n.Multiplier, rounding.MulUp(sens, contribution)), divisor), nil
	}
	std, err := accounting.NoiseStd(mu, sens, contribution)
	return rounding.DivUp(std, divisor), err
}

// check refuses noise that is none of a run.
func (n *Noise) check(nodes int, c Config) error {
	if n.Adjacency != accounting.ZeroOut && n.Adjacency != accounting.ReplaceOne {
		return fmt.Errorf("noise for the unknown adjacency %v", n.Adjacency)
	}
	if n.Correlation == nil {
		return errors.New("noise without a correlation")
	}
	if have := len(n.Correlation.of); have != nodes {
		return fmt.Errorf("%d nodes with strategies for %d", nodes, have)
	}
	if have := n.Correlation.schema.Steps(); have != c.Schema.Steps() {
		return fmt.Errorf("%w: strategies of T = %d steps in a run of %d", participation.ErrViolated, have,
			c.Schema.Steps())
	}
	return n.checkSampling(c)
}
