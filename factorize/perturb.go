package factorize

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/strategy"
)

// Perturbation is what an error of the Gram matrix costs: what becomes of a strategy that is optimal for Ĥ where the
// truth is H = Ĥ + E. Relative to the loss under Ĥ, its loss changes by First, exactly, and, to the gap's accuracy, it
// exceeds the optimum for H by at most
//
//	(1 + First)/(1 + (First - Second)/2)² - 1 ≈ Second + First²/4,
//
// of second order: First = ⟨E, X⁻¹⟩/⟨Ĥ, X⁻¹⟩ and Second = tr(E Ĥ⁻¹ E X⁻¹)/⟨Ĥ, X⁻¹⟩ with X = CᵀC. It holds for errors
// of any size (tested with E as large as Ĥ).
//
// Let Ĥ = RᵀR and H = Rᵀ(I + Δ)R ⪰ 0, Δ = R⁻ᵀER⁻¹, f = ⟨Ĥ, X⁻¹⟩, a = First, b = Second. The loss of C under H is
// f(1 + a). From below, (I+Δ)^½R is a root of H, and with the dual Λ = X⁻¹ĤX⁻¹ of Ĥ, RΛ^½ = PV with P = RX⁻¹Rᵀ and V
// orthogonal. So
//
//	‖(I+Δ)^½RΛ^½‖_* ≥ tr((I+Δ)^½P) ≥ tr P + ½tr(ΔP) - ½tr(Δ²P) = f(1 + a/2 - b/2),
//
// because √(1+x) ≥ 1 + x/2 - x²/2 for x ≥ -1, tr P = f and tr(ΔP) = fa. By LowerBound the optimum for H is at least
// f(1 + (a-b)/2)². E is not known, but how much estimates from single probes differ is: with E_i = H_i - Ĥ, Σ
// tr(E_iĤ⁻¹E_iX⁻¹)/(P(P-1)), P the number of probes, has the expectation of b·f, and that of a² is Σ
// tr(E_iX⁻¹)²/(P(P-1)f²).
type Perturbation struct{ First, Second float64 }

// Excess returns the bound of the excess loss that Perturbation explains.
func (p Perturbation) Excess() float64 {
	root := 1 + (p.First-p.Second)/2
	if root <= 0 {
		return math.Inf(1)
	}
	return (1+p.First)/(root*root) - 1
}

// A Perturber computes perturbations for one strategy and one Gram matrix.
type Perturber struct {
	steps    int
	root     *mat.TriDense // R, Ĥ = RᵀR
	noising  *mat.Dense    // C⁻¹
	gram     []float64     // X⁻¹ = C⁻¹C⁻ᵀ
	original float64       // ⟨Ĥ, X⁻¹⟩
}

// NewPerturber prepares for a strategy that is optimal, or nearly, for h (T×T). The errors are a Gram matrix that is
// not positive definite, and a strategy without inverse.
func NewPerturber(c strategy.Strategy, h *mat.SymDense) (*Perturber, error) {
	root, err := gramRoot(h)
	if err != nil {
		return nil, err
	}
	p := &Perturber{steps: c.Steps(), root: root}
	if p.noising, p.gram, err = inverses(c); err != nil {
		return nil, err
	}
	p.original = p.innerProduct(h)
	return p, nil
}

// innerProduct returns ⟨E, X⁻¹⟩.
func (p *Perturber) innerProduct(e *mat.SymDense) float64 {
	var sum float64
	for i := range p.steps {
		row := p.gram[i*p.steps : (i+1)*p.steps]
		sum += e.At(i, i) * row[i]
		for j := i + 1; j < p.steps; j++ {
			sum += 2 * e.At(i, j) * row[j]
		}
	}
	return sum
}

// By returns what the error e of the Gram matrix does. Second is ‖R⁻ᵀEC⁻¹‖_F² over ⟨Ĥ, X⁻¹⟩.
func (p *Perturber) By(e *mat.SymDense) Perturbation {
	var product mat.Dense
	dense.Mul(&product, e, p.noising)
	gemm.Trsm(blas.Left, blas.Trans, 1, p.root.RawTriangular(), product.RawMatrix())
	entries := product.RawMatrix().Data
	return Perturbation{p.innerProduct(e) / p.original, floats.Dot(entries, entries) / p.original}
}
