package workload

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// gram replaces h by E[MᵀhM], M[t,s] = 1 if row s of the noise is sent in step t, where every step is missed with
// probability p, independently: rows that are lost,
//
//	(1-p)² H + p(1-p) diag(H),
//
// or carried to the next step that is not missed. With s < s', rows s and s' are then sent in steps t < s' and t' ≥ s',
// which are independent, or, if all steps from s to s'-1 are missed, both in the same step t ≥ s':
//
//	E[s,s'] = (1-p) Σ_{s≤t<s'} p^(t-s) U[t,s'] + p^(s'-s) E[s',s'],   U[t,s'] = (1-p) Σ_{t'≥s'} p^(t'-s') H[t,t'],
//	E[s,s] = (1-p) Σ_{t≥s} p^(t-s) H[t,t].
func (a Absence) gram(h *mat.SymDense) {
	p := a.MissedSteps
	switch {
	case p == 0:
	case !a.Carry:
		a.lose(h)
	default:
		rows := whole(h)
		for later := len(rows) - 1; later >= 0; later-- {
			for t := range later { // Σ over t' ≥ later of (1-p) p^(t'-later) H[t,t']
				rows[t][later] *= 1 - p
				if later+1 < len(rows) {
					rows[t][later] += p * rows[later+1][t] // kept in the other triangle, which is done with
				}
			}
			rows[later][later] *= 1 - p
			if later+1 < len(rows) {
				rows[later][later] += p * rows[later+1][later+1]
			}
			for t := range later { // the other triangle
				rows[later][t] = rows[t][later]
			}
			for s := later - 1; s >= 0; s-- {
				rows[s][later] = (1-p)*rows[s][later] + p*rows[s+1][later]
			}
		}
	}
}

// spread returns E[MyMᵀ], such that ⟨gram(h), y⟩ = ⟨h, spread(y)⟩.
func (a Absence) spread(y mat.Symmetric) *mat.SymDense {
	out := mat.NewSymDense(y.SymmetricDim(), nil)
	out.CopySym(y)
	p := a.MissedSteps
	switch {
	case p == 0:
	case !a.Carry:
		a.lose(out)
	default:
		steps := out.SymmetricDim()
		rows := whole(out)
		sent := make([]float64, steps) // Σ over s ≤ t of (1-p) p^(t-s) Y[s,·]
		var waiting float64            // Σ over s, s' ≤ t of p^(t-min(s,s')) Y[s,s']
		for t := range steps {
			waiting = p*waiting + y.At(t, t) + 2*p/(1-p)*sent[t]
			for s := t + 1; s < steps; s++ {
				sent[s] = (1-p)*y.At(t, s) + p*sent[s]
			}
			rows[t][t] = (1 - p) * waiting
			var sum float64
			for s := t + 1; s < steps; s++ {
				sum = p*sum + (1-p)*sent[s]
				rows[t][s] = sum
			}
		}
	}
	return out
}

// lose is the expectation where rows are lost, which is its own other way.
func (a Absence) lose(h *mat.SymDense) {
	p := a.MissedSteps
	for s := range h.SymmetricDim() {
		for t := s; t < h.SymmetricDim(); t++ {
			v := (1 - p) * h.At(s, t)
			if s != t {
				v *= 1 - p
			}
			h.SetSym(s, t, v)
		}
	}
}

// gramApart replaces h by ĀᵀhĀ, Ā = E[M]: what gram is of two nodes, each of which misses steps for itself. With rows
// that are carried, Ā[t,s] = (1-p) p^(t-s).
func (a Absence) gramApart(h *mat.SymDense) {
	a.apart(h, func(row []float64) {
		for s := len(row) - 2; s >= 0; s-- {
			row[s] += a.MissedSteps * row[s+1]
		}
	})
}

// spreadApart returns ĀyĀᵀ, such that ⟨gramApart(h), y⟩ = ⟨h, spreadApart(y)⟩.
func (a Absence) spreadApart(y mat.Symmetric) *mat.SymDense {
	out := mat.NewSymDense(y.SymmetricDim(), nil)
	out.CopySym(y)
	a.apart(out, func(row []float64) {
		for t := 1; t < len(row); t++ {
			row[t] += a.MissedSteps * row[t-1]
		}
	})
	return out
}

// apart applies Ā to both sides of h; carry adds up the rows that wait, without the factor 1-p.
func (a Absence) apart(h *mat.SymDense, carry func(row []float64)) {
	steps, sent := h.SymmetricDim(), 1-a.MissedSteps
	if a.Carry {
		full := mat.DenseCopyOf(h)
		for range 2 { // columns after rows, by the transposed matrix
			for s := range steps {
				carry(full.RawRowView(s))
			}
			full.CloneFrom(full.T())
		}
		for s := range steps {
			for t := s; t < steps; t++ {
				h.SetSym(s, t, (full.At(s, t)+full.At(t, s))/2)
			}
		}
	}
	h.ScaleSym(sent*sent, h)
}

// sharedKernel returns the kernel of M = LLᵀ, with the rows of Lᵀ and the diagonal of M.
func (s *SpaceTime) sharedKernel(ctx context.Context, rows mat.Matrix, variances []float64) (*Kernel, error) {
	k, err := s.kernel(ctx, rows)
	if err != nil || s.absence.MissedSteps == 0 {
		return k, err
	}
	k.absence = s.absence
	k.own, err = s.kernel(ctx, rootsOf(variances))
	return k, err
}

// VarianceKernel returns the kernel of noise that nodes do not share, with a variance of its own for each node: of
// TimeKernel of a diagonal matrix.
func (s *SpaceTime) VarianceKernel(ctx context.Context, variances []float64) (*Kernel, error) {
	k, err := s.kernel(ctx, rootsOf(variances))
	if err != nil {
		return nil, err
	}
	k.absence = s.absence
	return k, nil
}

// rootsOf returns a row √v·e_i for every variance that is not 0.
func rootsOf(variances []float64) *mat.Dense {
	rows := mat.NewDense(len(variances), len(variances), nil)
	count := 0
	for i, v := range variances {
		if v != 0 {
			rows.Set(count, i, math.Sqrt(v))
			count++
		}
	}
	return rows.Slice(0, max(1, count), 0, len(variances)).(*mat.Dense)
}
