package reaction

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// gate is what noise, attacker and network make of the state in one step: everything but the reaction. The state before
// noise is σ = (s, others), n = m·size numbers with number p of node v in place p·m + v; after it is y, and the next χ.
//
//	y_p = σ_p − E_p c,     seen: H y_0 = 0 is required,     χ' = (W y_0, y_1, …).
//
// With an orthonormal basis (seen, N) of messages and free coordinates ρ = Nᵀy_0, of which there are h, everything is
// linear in ζ = Nᵀσ_0, in μ_p = σ_p − (E_p/E_0) σ_0 and in ρ:
//
//	cost |c|² = weight·(|seenᵀσ_0|² + |ζ − ρ|²),     weight = 1/E_0²,     χ' = onto·(ρ, μ).
type gate struct {
	h, k   int       // free coordinates; h + m·(size−1)
	into   *operator // k×n: (ζ, μ) of σ
	onto   *operator // n×k
	paid   []float64 // m×m: weight·seen·seenᵀ, what directions that the attacker sees cost at once
	weight float64
	exact  bool // seen and unseen are unit vectors

	seen, mix, fresh *operator // independent rows of H; W, nil for none; n×m: where noise enters
}

// gateOf returns the gate of a step. ok is false if what the attacker sees cannot be told in floating point.
func gateOf(m int, step Step, rule Rule) (g *gate, ok bool) {
	b, ok := basisOf(step.Seen, m)
	if !ok {
		return nil, false
	}
	size := rule.size()
	h := len(b.unseen)
	n, k := m*size, h+m*(size-1)
	_, _, noise := rule.row(0)
	g = &gate{h: h, k: k, exact: b.exact(), weight: 1 / (noise * noise), paid: make([]float64, m*m)}
	for _, column := range b.seen {
		for i, x := range column {
			if x != 0 {
				add(g.paid[i*m:(i+1)*m], g.weight*x, column)
			}
		}
	}
	into, onto := make([]float64, k*n), make([]float64, n*k)
	for a, column := range b.unseen {
		copy(into[a*n:], column)
		mixed := column
		if step.Mix == nil {
			mixed = make([]float64, m)
		} else {
			var product mat.VecDense
			product.MulVec(step.Mix, mat.NewVecDense(m, column))
			mixed = product.RawVector().Data
		}
		for v, x := range mixed {
			onto[v*k+a] = x
		}
	}
	for p := 1; p < size; p++ {
		_, _, with := rule.row(p)
		ratio := with / noise
		for v := range m {
			at := h + (p-1)*m + v
			into[at*n+p*m+v] = 1
			into[at*n+v] = -ratio
			onto[(p*m+v)*k+at] = 1
			for a, column := range b.unseen {
				onto[(p*m+v)*k+a] = ratio * column[v]
			}
		}
	}
	g.into, g.onto = newOperator(k, n, into), newOperator(n, k, onto)
	g.seen = newOperator(len(b.seen), m, slices.Concat(b.seen...))
	if step.Mix != nil {
		g.mix = newOperator(m, m, mat.DenseCopyOf(step.Mix).RawMatrix().Data)
	}
	enter := make([]float64, n*m)
	for p := range size {
		_, _, fresh := rule.row(p)
		for v := range m {
			enter[(p*m+v)*m+v] = fresh
		}
	}
	g.fresh = newOperator(n, m, enter)
	return g, true
}

// answer is what nodes make of their state in one step: σ = move·χ + inject·(answers beyond the centre, and the
// record).
type answer struct {
	move   *operator // n×n, with the centres ρ
	inject *operator // n×m: where gradients enter
	kappa  []float64 // m
}

// answerOf returns the answer of a step whose nodes' gradients change by (centre−1)Δx and by up to kappa|Δx| around it.
func answerOf(m int, rule Rule, centre, kappa []float64) *answer {
	size := rule.size()
	n := m * size
	move, inject := make([]float64, n*n), make([]float64, n*m)
	for p := range size {
		kept, gradient, _ := rule.row(p)
		for v := range m {
			for l, x := range kept {
				move[(p*m+v)*n+l*m+v] = x
			}
			move[(p*m+v)*n+v] += gradient * (centre[v] - 1)
			inject[(p*m+v)*m+v] = gradient
		}
	}
	return &answer{move: newOperator(n, n, move), inject: newOperator(n, m, inject), kappa: kappa}
}
