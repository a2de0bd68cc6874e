package factorize

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// TestMain has properties checked on 200 random problems; -rapid.checks on the command line overrides.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "200"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func schema(t interface{ Fatal(...any) }, k, b int) participation.Cyclic {
	s, err := participation.NewCyclic(k*b, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawSchema draws k and b with k·b ≤ 24.
func drawSchema(t *rapid.T) participation.Cyclic {
	k := rapid.IntRange(1, 24).Draw(t, "k")
	return schema(t, k, rapid.IntRange(1, 24/k).Draw(t, "b"))
}

// randomGram draws the Gram matrix of the model workload over a random gossip matrix of up to 12 nodes, by its definition.
func randomGram(t *rapid.T, steps int) *mat.SymDense {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	rng := random(t)
	w := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i == j || rng.IntN(3) == 0 {
				w.Set(i, j, rng.Float64()+0.01)
			}
		}
		row := w.RowView(i).(*mat.VecDense)
		row.ScaleVec(1/mat.Sum(row), row)
	}
	h := mat.NewSymDense(steps, nil)
	powers := []*mat.Dense{w} // W^(p+1)
	for len(powers) < steps {
		var next mat.Dense
		next.Mul(powers[len(powers)-1], w)
		powers = append(powers, &next)
	}
	for s := range steps {
		for r := s; r < steps; r++ {
			var sum float64
			for t := r; t < steps; t++ {
				var product mat.Dense
				product.MulElem(powers[t-s], powers[t-r])
				sum += mat.Sum(&product)
			}
			h.SetSym(s, r, sum)
		}
	}
	return h
}

func random(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6)) }

// randomStrategy draws a well-conditioned lower-triangular C.
func randomStrategy(t *rapid.T, steps int) *strategy.Dense {
	rng := random(t)
	c := mat.NewTriDense(steps, mat.Lower, nil)
	for i := range steps {
		for j := range i {
			c.SetTri(i, j, rng.NormFloat64()/float64(steps))
		}
		c.SetTri(i, i, 0.5+rng.Float64())
	}
	d, err := strategy.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lossByDefinition is sens²·‖L C⁻¹‖²_F with L of H = LᵀL from the eigenvectors of H, and sens² by all sums of magnitudes.
func lossByDefinition(c strategy.Strategy, h *mat.SymDense, patterns [][]int) float64 {
	var lower mat.TriDense
	c.StrategyTo(&lower)
	var inverse, l mat.Dense
	if err := inverse.Inverse(&lower); err != nil {
		panic(err)
	}
	l.Mul(rootOf(h), &inverse)
	x := strategy.GramOf(c)
	var sens float64
	for _, p := range patterns {
		var sum float64
		for _, s := range p {
			for _, t := range p {
				sum += math.Abs(x.At(s, t))
			}
		}
		sens = math.Max(sens, sum)
	}
	return sens * math.Pow(mat.Norm(&l, 2), 2)
}

// rootOf returns the symmetric square root of a positive semidefinite matrix, from its eigenvectors.
func rootOf(a mat.Symmetric) *mat.Dense {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		panic("no eigenvectors")
	}
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = math.Sqrt(math.Max(v, 0))
	}
	var vectors, half, root mat.Dense
	eigen.VectorsTo(&vectors)
	half.Mul(&vectors, mat.NewDiagDense(len(values), values))
	root.Mul(&half, vectors.T())
	return &root
}

// boundByDefinition is (tr (H^½ΛH^½)^½)²/Σy for Λ = x⁻¹hx⁻¹ with everything outside the blocks of the patterns dropped
// and the blocks scaled to a constant diagonal by congruence, everything by eigenvectors and plain inverses.
func boundByDefinition(h, x *mat.SymDense, patterns [][]int) float64 {
	n := h.SymmetricDim()
	var inverse, half, lambda mat.Dense
	if err := inverse.Inverse(x); err != nil {
		panic(err)
	}
	half.Mul(&inverse, h)
	lambda.Mul(&half, &inverse)
	dual := mat.NewSymDense(n, nil)
	var total float64
	for _, p := range patterns {
		var y float64
		for _, s := range p {
			y += lambda.At(s, s) / float64(len(p))
		}
		for _, s := range p {
			for _, t := range p {
				dual.SetSym(s, t, lambda.At(s, t)*y/math.Sqrt(lambda.At(s, s)*lambda.At(t, t)))
			}
		}
		total += y
	}
	root := rootOf(h)
	var left, inner mat.Dense
	left.Mul(root, dual)
	inner.Mul(&left, root)
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, (inner.At(i, j)+inner.At(j, i))/2)
		}
	}
	trace := mat.Trace(rootOf(sym))
	return trace * trace / total
}

func prefixGram(steps int) *mat.SymDense { return workload.PrefixGram(steps) }

// objectiveOf returns the objective for h under the mask, and the root of h.
func objectiveOf(t *rapid.T, h *mat.SymDense, k mask) (*maskedObjective, *mat.TriDense) {
	var chol mat.Cholesky
	var root mat.TriDense
	if !chol.Factorize(h) {
		t.Fatal("Gram matrix is not positive definite")
	}
	chol.UTo(&root)
	return newMaskedObjective(h, &root, k), &root
}
