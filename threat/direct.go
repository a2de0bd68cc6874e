package threat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
)

// MaxDirect is the largest pT of the direct method: 200 MB and some minutes.
const MaxDirect = 5000

// ErrTooLarge is returned for views beyond MaxDirect.
var ErrTooLarge = errors.New("view is too large for a dense strategy: use a structured one")

// direct works with the covariance of everything that the attacker sees. What it sees of the noisy gradients of a node is
// found by running the recursion on unit impulses. With a Training the covariance is factored round by round, so that
// ranks are decided where they are in the rounds of a system; else it is regular, and all of it one block.
func (s Scenario) direct(ctx context.Context, visit func(Exposure) error) error {
	c, err := s.course()
	if err != nil {
		return err
	}
	d := &directView{course: c, sights: newSights(s.nodes(), s.Attacker), scenario: s,
		system: &system{degenerate: s.Algorithm.training != nil && !c.fresh()}}
	for _, r := range c.rounds() {
		if r.network == nil {
			continue
		}
		if h := d.sights.at(r.network).h; h != nil {
			seen, _ := h.Dims()
			seen *= c.layout(nil).sent
			d.seen = append(d.seen, seenRound{r.step, d.size, seen})
			d.size += seen
		}
	}
	if d.size > 0 && s.Algorithm.tooWide() {
		return ErrUnclear
	}
	if d.size > MaxDirect {
		return fmt.Errorf("%w (%d messages in %d steps, more than %d)", ErrTooLarge, d.size, c.steps, MaxDirect)
	}
	if d.alike() && d.size > 0 {
		d.seen = []seenRound{{0, 0, d.size}}
	}
	if err := d.factorize(ctx); err != nil {
		return err
	}
	for _, victim := range d.sights.victims {
		m, err := d.learned(ctx, victim)
		if err != nil {
			return err
		}
		if err := visit(Exposure{Victim: victim, M: m}); err != nil {
			return err
		}
	}
	return nil
}

// directView is all that an attacker sees.
type directView struct {
	*course
	*system
	scenario Scenario
	sights   *sights
	seen     []seenRound
	size     int
	factor   *mat.Dense    // L of the covariance L S Lᵀ, without its diagonal blocks, which are I
	inverses []*innovation // S⁻¹ of every block
}

// seenRound is what is seen in a round.
type seenRound struct{ step, from, size int }

// alike reports whether all steps do the same, on a network that stays, and none is missed.
func (d *directView) alike() bool { return d.scenario.Algorithm.training == nil }

// responses returns what is seen of noisy gradients that nodes share, each with its weight, size×T.
func (d *directView) responses(ctx context.Context, weights map[int]float64) (*mat.Dense, error) {
	n, steps := d.networks.Nodes(), d.course.steps
	impulsive := steps // number of steps that have an impulse
	if d.alike() {
		impulsive = 1
	}
	out := mat.NewDense(d.size, steps, nil)
	at := 0
	err := d.walk(ctx, impulsive, func(t int, _ *mat.Dense) []float64 {
		impulses := make([]float64, n*impulsive)
		for v, weight := range weights {
			if t < impulsive {
				impulses[v*impulsive+t] = weight
			}
		}
		return impulses
	}, func(_ int, w *graph.CSR, sent, _ *mat.Dense) {
		if h := d.sights.at(w).h; h != nil {
			for i := range h.RawMatrix().Rows {
				row := out.RawRowView(at)[:impulsive]
				for j, weight := range h.RawRowView(i) {
					if weight != 0 {
						floats.AddScaled(row, weight, sent.RawRowView(d.sights.nodes[j]))
					}
				}
				at++
			}
		}
	})
	for t := impulsive; t < steps; t++ { // later, and otherwise the same
		for row := t * (d.size / steps); row < d.size; row++ {
			out.Set(row, t, out.At(row-t*(d.size/steps), 0))
		}
	}
	return out, err
}

// noising returns what enters the messages of node v's noise: C⁻¹, with rows that are not sent left out or carried.
func (d *directView) noising(v int) (*mat.Dense, error) {
	z, err := noisingOf(d.scenario.Algorithm.correlation(v, d.course.steps))
	if err != nil || d.missed == nil {
		return z, err
	}
	sent := mat.NewDense(d.course.steps, d.course.steps, nil)
	for s := range d.course.steps {
		if t := d.sent(s, v); t >= 0 {
			floats.Add(sent.RawRowView(t), z.RawRowView(s))
		}
	}
	return sent, nil
}

// factorize finds the covariance of the noise in all that is seen, and its factors.
func (d *directView) factorize(ctx context.Context) error {
	if d.size == 0 {
		return nil
	}
	covariance := blas64.Symmetric{N: d.size, Stride: d.size, Data: make([]float64, d.size*d.size), Uplo: blas.Upper}
	least := make([]float64, d.course.steps) // of fresh noise
	for t := range least {
		least[t] = math.Inf(1)
	}
	add := func(weights map[int]float64, z *mat.Dense, variance float64) error {
		responses, err := d.responses(ctx, weights)
		if err == nil {
			gemm.Syrk(blas.NoTrans, variance, mul(responses, z).RawMatrix(), 1, covariance)
		}
		return err
	}
	a := d.scenario.Algorithm
	for _, v := range d.sights.nodes {
		z, err := d.noising(v)
		if err != nil {
			return err
		}
		variance := 1.0
		if a.space != nil {
			variance = a.own(v) * a.own(v)
		} else {
			for t := range least {
				least[t] = math.Min(least[t], math.Pow(d.rates[t]*z.At(t, t), 2))
			}
		}
		if err := add(map[int]float64{v: 1}, z, variance); err != nil {
			return err
		}
	}
	if a.space != nil { // both ends of a pair send messages that are seen, or come from such
		z, err := d.noising(0)
		if err != nil {
			return err
		}
		for _, p := range a.space.unknownPairs(d.scenario.Attacker.insiders()) {
			if err := add(map[int]float64{p.U: 1 / a.part(p.U), p.V: -1 / a.part(p.V)}, z, p.Deviation*p.Deviation); err != nil {
				return err
			}
		}
	}
	if d.alike() { // one block, of which the noise that nodes share hides how regular it is: its condition says that
		least[0] = slices.Min(least)
	}
	d.factor = mat.NewDense(d.size, d.size, covariance.Data)
	dense.MirrorUpper(covariance.Data, d.size)
	before := lists.Make(d.size, func(i int) float64 { return d.factor.At(i, i) })
	for _, b := range d.seen {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.eliminate(b, slices.Max(before[b.from:b.from+b.size]), least[b.step]); err != nil {
			return err
		}
	}
	return nil
}

// eliminate takes what a block says out of all later ones. The variances in it are made of numbers up to scale, and at
// least floor.
func (d *directView) eliminate(b seenRound, scale, floor float64) error {
	if !d.degenerate {
		if err := d.allow(floor, scale); err != nil {
			return err
		}
	}
	to := b.from + b.size
	here := d.factor.Slice(b.from, to, b.from, to).(*mat.Dense)
	s, err := invert(symmetric(here), d.degenerate, scale)
	if err == nil && d.alike() {
		err = d.allow(1, mat.Norm(here, 1)*mat.Norm(s.inverse, 1))
	}
	if err != nil {
		return err
	}
	d.inverses = append(d.inverses, s)
	if to == d.size {
		return nil
	}
	column := mat.DenseCopyOf(d.factor.Slice(to, d.size, b.from, to))
	gain := mul(column, s.inverse)
	d.factor.Slice(to, d.size, b.from, to).(*mat.Dense).Copy(gain)
	rest := d.factor.Slice(to, d.size, to, d.size).(*mat.Dense).RawMatrix()
	gemm.Gemm(blas.NoTrans, blas.Trans, -1, gain.RawMatrix(), column.RawMatrix(), 1, rest)
	return nil
}

// learned returns M of a victim: the sum of aᵀ S⁻¹ a over the blocks, a what its gradients move of the innovations.
func (d *directView) learned(ctx context.Context, victim int) (*mat.SymDense, error) {
	if d.size == 0 {
		return mat.NewSymDense(d.course.steps, nil), nil
	}
	a, err := d.responses(ctx, map[int]float64{victim: 1})
	if err != nil {
		return nil, err
	}
	for t := range d.course.steps {
		if d.misses(t, victim) {
			a.SetCol(t, make([]float64, d.size))
		}
	}
	m := mat.NewDense(d.course.steps, d.course.steps, nil)
	for i, b := range d.seen {
		to, s := b.from+b.size, d.inverses[i]
		here := a.Slice(b.from, to, 0, d.course.steps).(*mat.Dense)
		if s.free != nil && mat.Max(absolute(mul(s.free.T(), here))) > bareAbove*math.Sqrt(s.scale) {
			return nil, ErrUnclear // a rank was misjudged: every gradient comes with noise of its own
		}
		m.Add(m, mul(here.T(), mul(s.inverse, here)))
		if to < d.size {
			rest := a.Slice(to, d.size, 0, d.course.steps).(*mat.Dense)
			rest.Sub(rest, mul(d.factor.Slice(to, d.size, b.from, to), here))
		}
	}
	out := symmetric(m)
	out.ScaleSym(1+d.slack, out)
	return out, nil
}
