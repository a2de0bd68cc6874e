package simulate

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
)

// MLP is a perceptron with one hidden layer of rectifiers, one output and squared loss:
//
//	h = max(0, W₁ᵀx + b₁)    ŷ = w₂·h + b₂    ℓ = (ŷ - y)²
//
// Its parameters are W₁ (features×hidden, row by row), b₁, w₂ and b₂. The gradient of one record, with s = 2(ŷ - y) and
// δ = w₂ where h > 0, is (s xδᵀ, sδ, sh, s), of squared norm s²((‖x‖²+1)‖δ‖² + ‖h‖² + 1).
type MLP struct{ features, hidden int }

// NewMLP returns a perceptron. It panics if there is no feature or no hidden unit.
func NewMLP(features, hidden int) MLP {
	if features < 1 || hidden < 1 {
		panic("simulate: a perceptron without units")
	}
	return MLP{features, hidden}
}

var _ Model = MLP{}

// Features returns the number of inputs.
func (m MLP) Features() int { return m.features }

// Size returns the number of parameters.
func (m MLP) Size() int { return (m.features+2)*m.hidden + 1 }

// Init draws every layer from ±1/√(its inputs).
func (m MLP) Init(theta []float32, r *rand.Rand) {
	first := (m.features + 1) * m.hidden
	uniformInit(theta[:first], m.features, r)
	uniformInit(theta[first:], m.hidden, r)
}

// Check accepts all finite targets.
func (m MLP) Check(data Dataset) error { return checkFinite(data) }

// NewWorker returns scratch for one goroutine.
func (m MLP) NewWorker() Worker {
	return &mlpWorker{m, make([]float32, chunk*m.hidden), make([]float32, chunk*m.hidden), make([]float32, chunk)}
}

type mlpWorker struct {
	MLP
	h, delta []float32 // chunk×hidden
	out      []float32 // chunk: ŷ
}

// layers cuts parameters, or a gradient, into W₁, b₁, w₂ and b₂.
func (m MLP) layers(theta []float32) (w1, b1, w2, b2 []float32) {
	first := m.features * m.hidden
	return theta[:first], theta[first : first+m.hidden], theta[first+m.hidden : first+2*m.hidden], theta[first+2*m.hidden:]
}

// forward fills h and out for at most chunk examples.
func (w *mlpWorker) forward(theta []float32, batch Dataset) []float32 {
	w1, b1, w2, b2 := w.layers(theta)
	rows := batch.Len()
	for i := range rows {
		copy(w.h[i*w.hidden:], b1)
	}
	gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, general(rows, w.features, batch.Inputs), general(w.features, w.hidden, w1), 1,
		general(rows, w.hidden, w.h))
	h := w.h[:rows*w.hidden]
	for i, v := range h { // without a branch, which would be mispredicted half of the time; NaN stays NaN
		h[i] = 0.5 * (v + math.Float32frombits(math.Float32bits(v)&^(1<<31)))
	}
	for i := range rows {
		w.out[i] = b2[0]
	}
	blas32.Gemv(blas.NoTrans, 1, general(rows, w.hidden, h), vector(w2), 1, vector(w.out[:rows]))
	return w.out
}

// Loss returns the mean squared error.
func (w *mlpWorker) Loss(theta []float32, batch Dataset) float64 {
	return meanLoss(w, theta, batch, func(out []float32, y float32) float64 {
		e := float64(out[0]) - float64(y)
		return e * e
	})
}

// ClippedSumTo writes the sum of the clipped gradients to dst.
func (w *mlpWorker) ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int) {
	clear(dst)
	_, _, w2, _ := w.layers(theta)
	g1, gb1, g2, gb2 := w.layers(dst)
	forEach(w, theta, batch, func(part Dataset, i int, out []float32, y float32) {
		h, delta := w.h[i*w.hidden:(i+1)*w.hidden], w.delta[i*w.hidden:(i+1)*w.hidden]
		s := 2 * (float64(out[0]) - float64(y))
		for j, v := range w2 { // v where h > 0: the bits of such an h are a positive number
			mask := uint32(-int32(math.Float32bits(h[j])) >> 31)
			delta[j] = math.Float32frombits(math.Float32bits(v) & mask)
		}
		norm := s * s * ((squaredNorm(part.Inputs[i*w.features:(i+1)*w.features])+1)*squaredNorm(delta) + squaredNorm(h) + 1)
		factor, over := clipFactor(norm, clip)
		if over {
			clipped++
		}
		s32 := float32(s * factor)
		blas32.Scal(s32, vector(delta))
		blas32.Axpy(1, vector(delta), vector(gb1))
		blas32.Axpy(s32, vector(h), vector(g2))
		gb2[0] += s32
	}, func(part Dataset) {
		rows := part.Len()
		gemm.Gemm32(blas.Trans, blas.NoTrans, 1, general(rows, w.features, part.Inputs), general(rows, w.hidden, w.delta), 1,
			general(w.features, w.hidden, g1))
	})
	return clipped
}
