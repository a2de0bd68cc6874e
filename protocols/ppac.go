package protocols

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mafalda/graph"
)

// PPAC is provably private averaging consensus (Fereydounian et al., Algorithm 1) on a graph: every node splits its value into a
// fragment Γ_ij for each neighbour j, all of them noise but the one for m_i, which completes the sum; nodes start from the sums of
// the fragments they received, and average with W.
type PPAC struct {
	graph      *graph.Graph
	neighbours [][]int
	chosen     []int // m_i
	w          *graph.CSR
	weights    *weights // W in exact numbers, and modulo a prime
	residues   [][]uint64
	source     [][]int // source[i][at] is the number of the noise Γ_ij, j = neighbours[i][at], behind the n values; -1 for m_i
	sources    int     // 2·edges
}

// NewPPAC checks the network. chosen[i] is m_i. The errors wrap ErrNetwork: a directed graph, nodes without neighbours, an m_i that
// is no neighbour, a W that belongs to another graph, does not keep sums, or never reaches consensus.
func NewPPAC(g *graph.Graph, w *graph.Gossip, chosen []int) (*PPAC, error) {
	if err := checkConsensus(g, w); err != nil {
		return nil, err
	}
	if len(chosen) != g.Nodes() {
		return nil, fmt.Errorf("%w: %d chosen neighbours for %d nodes", ErrNetwork, len(chosen), g.Nodes())
	}
	p := &PPAC{graph: g, neighbours: neighbourhoods(g), chosen: slices.Clone(chosen), w: w.Matrix(), sources: g.Nodes()}
	for i, around := range p.neighbours {
		if !slices.Contains(around, chosen[i]) {
			name := fmt.Sprint(chosen[i])
			if chosen[i] >= 0 && chosen[i] < g.Nodes() {
				name = g.Label(chosen[i])
			}
			return nil, fmt.Errorf("%w: node %s chooses %s, which is not its neighbour", ErrNetwork, g.Label(i), name)
		}
		numbers := make([]int, len(around))
		for at, j := range around {
			numbers[at] = -1
			if j != chosen[i] {
				numbers[at] = p.sources
				p.sources++
			}
		}
		p.source = append(p.source, numbers)
	}
	p.weights = newWeights(p.w)
	p.residues = p.weights.residues()
	return p, nil
}

// Nodes returns n.
func (p *PPAC) Nodes() int { return len(p.neighbours) }

// Chosen returns m_i.
func (p *PPAC) Chosen(i int) int { return p.chosen[i] }

// Deviations are the standard deviations of everything random: the values u_i, and the noise Γ_ij for j ≠ m_i.
type Deviations struct {
	Value func(i int) float64
	Noise func(i, j int) float64
}

// Uniform is the same for all values, and for all noise.
func Uniform(value, noise float64) Deviations {
	return Deviations{func(int) float64 { return value }, func(int, int) float64 { return noise }}
}

// widestRange is by how much standard deviations may differ: leakages, never below the truth, are right to nine digits up to
// there, and beyond lose one for each power of ten.
const widestRange = 1e10

// wideRange is from where on a second look is taken at every victim.
const wideRange = 1e3

// check refuses what is not positive and finite, for values and noise have a density (Assumption 4.1), and what is too far apart for
// double precision.
func (d Deviations) check(p *PPAC) error {
	for i, around := range p.neighbours {
		if s := d.Value(i); !(s > 0) || math.IsInf(s, 1) {
			return fmt.Errorf("standard deviation %v of the value of node %s: must be positive and finite", s, p.graph.Label(i))
		}
		for _, j := range around {
			if j == p.chosen[i] {
				continue
			}
			if s := d.Noise(i, j); !(s > 0) || math.IsInf(s, 1) {
				return fmt.Errorf("standard deviation %v of the noise from node %s to %s: must be positive and finite", s, p.graph.Label(i), p.graph.Label(j))
			}
		}
	}
	if least, most := d.span(p); most > widestRange*least {
		return fmt.Errorf("standard deviations from %g to %g of values and noise: more than a factor of %g is beyond double precision", least, most, widestRange)
	}
	return nil
}

// span returns the smallest and the largest.
func (d Deviations) span(p *PPAC) (least, most float64) {
	least = math.Inf(1)
	for i, around := range p.neighbours {
		least, most = math.Min(least, d.Value(i)), math.Max(most, d.Value(i))
		for _, j := range around {
			if j != p.chosen[i] {
				least, most = math.Min(least, d.Noise(i, j)), math.Max(most, d.Noise(i, j))
			}
		}
	}
	return least, most
}

// scaled returns them times 2^exponent.
func (d Deviations) scaled(exponent int) Deviations {
	return Deviations{
		Value: func(i int) float64 { return math.Ldexp(d.Value(i), exponent) },
		Noise: func(i, j int) float64 { return math.Ldexp(d.Noise(i, j), exponent) },
	}
}

// Run is a run of the protocol. Fragments[i][at] is Γ_ij for j the at-th neighbour of i, ascending; Values[t] is v(t), with
// Values[0] the sums of fragments.
type Run struct {
	Fragments [][]float64
	Values    [][]float64
}

// Prepare runs the preparation phase: it draws noise from r and returns Γ and v(0). u has n values.
func (p *PPAC) Prepare(u []float64, d Deviations, r *rand.Rand) (*Run, error) {
	if len(u) != p.Nodes() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(u), p.Nodes())
	}
	if err := d.check(p); err != nil {
		return nil, err
	}
	run := &Run{Fragments: make([][]float64, p.Nodes()), Values: [][]float64{make([]float64, p.Nodes())}}
	for i, around := range p.neighbours {
		row := make([]float64, len(around))
		rest, last := u[i], 0
		for at, j := range around {
			if j == p.chosen[i] {
				last = at
				continue
			}
			row[at] = d.Noise(i, j) * r.NormFloat64()
			rest -= row[at]
		}
		row[last] = rest
		for at, j := range around {
			run.Values[0][j] += row[at]
		}
		run.Fragments[i] = row
	}
	return run, nil
}

// Average runs the consensus phase from v(0): until all nodes are within tolerance of the mean of v(0), in the norm ‖v(t) - m·1‖₂,
// or for so many rounds (a tolerance of 0 runs them all). The only error is the context's.
func (p *PPAC) Average(ctx context.Context, run *Run, rounds int, tolerance float64) (err error) {
	run.Values, err = average(ctx, p.w, run.Values[:1], rounds, tolerance)
	return err
}
