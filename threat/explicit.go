package threat

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// View is an attacker's knowledge O = A G + B Z written out (Bellet et al., Definition 4): rows are what it knows,
// columns of A the gradients "time, then node" (nT), columns of B all noise of unit variance. It is the definition that
// Account is tested against, for small n and T: it has (pT + ...)·nT entries.
type View struct {
	Nodes, Steps int
	A, B         *mat.Dense
	Known        []int // columns of A that are known gradients (rows of A without noise)
}

// Explicit writes the view out by running the protocol on symbols: every message is a row of coefficients.
// Errors: ErrAttacker, ErrStrategy.
func Explicit(s Scenario) (*View, error) {
	p, err := s.protocol()
	if err != nil {
		return nil, err
	}
	return p.written()
}

// written returns the view of a run, written out.
func (p *protocol) written() (*View, error) {
	steps := p.steps
	if err := p.run(context.Background(), symbols{p}); err != nil {
		return nil, err
	}
	if len(p.rows) == 0 { // the attacker sees nothing
		p.learn(make([]float64, symbols{p}.width()))
	}
	gradients := p.n * steps
	v := &View{Nodes: p.n, Steps: steps}
	v.A, v.B = mat.NewDense(len(p.rows), gradients, nil), mat.NewDense(len(p.rows), symbols{p}.width()-gradients, nil)
	for i, row := range p.rows {
		v.A.SetRow(i, row[:gradients])
		v.B.SetRow(i, row[gradients:])
	}
	for _, a := range p.attacker.insiders() {
		for t := range steps {
			v.Known = append(v.Known, t*p.n+a)
		}
	}
	return v, nil
}

// symbols are unit rows: gradients "time, then node", then the nodes' own noise in the same order, then the noise of edges
// or messages.
type symbols struct{ p *protocol }

func (s symbols) width() int {
	return 2*s.p.n*s.p.steps + (len(s.p.noise.Pairs)+len(s.p.messages))*s.p.steps
}

func (s symbols) unit(column int) []float64 {
	row := make([]float64, s.width())
	row[column] = 1
	return row
}

func (s symbols) gradient(t, v int) []float64 { return s.unit(t*s.p.n + v) }
func (s symbols) own(t, v int) []float64      { return s.unit(s.p.n*s.p.steps + t*s.p.n + v) }
func (s symbols) edge(t, e int) []float64 {
	return s.unit(2*s.p.n*s.p.steps + t*len(s.p.noise.Pairs) + e)
}
func (s symbols) message(t, m int) []float64 {
	return s.unit(2*s.p.n*s.p.steps + t*len(s.p.messages) + m)
}

// Reduce returns the view without the influence of known gradients (Lemma 11): A(I - K⁺K) for the rows K of A that know
// gradients and carry no noise.
func (v *View) Reduce() *View {
	a := mat.DenseCopyOf(v.A)
	rows, _ := a.Dims()
	for _, column := range v.Known {
		a.SetCol(column, make([]float64, rows))
	}
	return &View{v.Nodes, v.Steps, a, v.B, nil}
}

// Exposure returns M of a victim by pseudo-inverses: A_uᵀ(BBᵀ)⁺A_u of the reduced view, infinite if A_u ≠ BB⁺A_u.
func (v *View) Exposure(victim int) (Exposure, error) {
	e, _, err := v.directions(victim)
	return e, err
}

// directions returns the exposure of a victim and, unless it is infinite, the weights (BBᵀ)⁺A_u of the best statistic of
// what the attacker knows, a column a step of the victim's gradients.
func (v *View) directions(victim int) (Exposure, *mat.Dense, error) {
	reduced := v.Reduce()
	var svd mat.SVD
	if !svd.Factorize(reduced.B, mat.SVDThin) {
		return Exposure{}, nil, fmt.Errorf("singular values of the attacker's view did not converge")
	}
	values := svd.Values(nil)
	var u mat.Dense
	svd.UTo(&u)
	a := pick(reduced.A, lists.Make(v.Steps, func(t int) int { return t*v.Nodes + victim }))
	var scaled mat.Dense
	dense.Mul(&scaled, u.T(), a)
	rest, turned := mat.DenseCopyOf(a), mat.NewDense(len(values), v.Steps, nil)
	for i, s := range values {
		row := scaled.RawRowView(i)
		if s <= 1e-10*values[0] {
			clear(row)
			continue
		}
		var back mat.Dense
		back.Outer(1, u.ColView(i), mat.NewVecDense(v.Steps, slices.Clone(row)))
		rest.Sub(rest, &back)
		for j := range row {
			row[j] /= s
			turned.Set(i, j, row[j]/s)
		}
	}
	if slices.Contains(v.Known, victim) || mat.Norm(rest, math.Inf(1)) > 1e-7 {
		return Exposure{Victim: victim, Infinite: true}, nil, nil
	}
	m := mat.NewSymDense(v.Steps, nil)
	dense.SymOuterK(m, 1, scaled.T())
	return Exposure{Victim: victim, M: m}, mul(&u, turned), nil
}
