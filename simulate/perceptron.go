package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
)

// Perceptron is a classifier of several linear layers without biases, with tanh between them, under the cross-entropy of the softmax of
// its outputs:
//
//	h₀ = x,   h_l = tanh(W_lᵀ h_{l-1}),   o = W_Lᵀ h_{L-1}
//
// Its parameters are W_1, …, W_L (inputs×outputs each, row by row). The gradient of one record is an outer product h_{l-1} δ_lᵀ a layer,
// of squared norm Σ_l ‖h_{l-1}‖²‖δ_l‖². NewPerceptron(784, 10, 784, 10) is the one of Zhou et al., Section V.
type Perceptron struct{ widths []int }

// NewPerceptron returns a perceptron with these numbers of inputs, hidden units, and classes. It panics for fewer than two widths, one
// below 1, or a single class.
func NewPerceptron(widths ...int) Perceptron {
	if len(widths) < 2 || widths[len(widths)-1] < 2 {
		panic(fmt.Sprintf("simulate: a perceptron of widths %v", widths))
	}
	for _, w := range widths {
		if w < 1 {
			panic(fmt.Sprintf("simulate: a perceptron of widths %v", widths))
		}
	}
	return Perceptron{append([]int(nil), widths...)}
}

var _ Model = Perceptron{}

// Layers returns L.
func (p Perceptron) Layers() int { return len(p.widths) - 1 }

// Prefix returns the number of parameters of the first layers.
func (p Perceptron) Prefix(layers int) int {
	size := 0
	for l := range layers {
		size += p.widths[l] * p.widths[l+1]
	}
	return size
}

// Features returns the number of inputs.
func (p Perceptron) Features() int { return p.widths[0] }

// Size returns the number of parameters.
func (p Perceptron) Size() int { return p.Prefix(p.Layers()) }

// Init draws every layer from ±1/√(its inputs).
func (p Perceptron) Init(theta []float32, r *rand.Rand) {
	for l := range p.Layers() {
		uniformInit(p.layer(theta, l), p.widths[l], r)
	}
}

// layer cuts W_{l+1} out of parameters, or of a gradient.
func (p Perceptron) layer(theta []float32, l int) []float32 {
	from := p.Prefix(l)
	return theta[from : from+p.widths[l]*p.widths[l+1]]
}

// tanh returns the hyperbolic tangent to the precision of float32, in half the time of math.Tanh.
func tanh(x float32) float32 {
	if v := float64(x); math.Abs(v) > 1e-4 {
		return float32(1 - 2/(math.Exp(2*v)+1))
	}
	return x - x*x*x/3
}

// Check accepts the numbers of classes.
func (p Perceptron) Check(data Dataset) error { return checkClasses(data, p.classes()) }

func (p Perceptron) classes() int { return p.widths[len(p.widths)-1] }

// NewWorker returns scratch for one goroutine; it is a *PerceptronWorker.
func (p Perceptron) NewWorker() Worker {
	w := &PerceptronWorker{Perceptron: p}
	for _, width := range p.widths[1:] {
		w.units, w.deltas = append(w.units, make([]float32, chunk*width)), append(w.deltas, make([]float32, chunk*width))
	}
	return w
}

var _ Classifier = (*PerceptronWorker)(nil)

// PerceptronWorker is the Worker of a Perceptron, a Classifier.
type PerceptronWorker struct {
	Perceptron
	units, deltas [][]float32 // of the layers: chunk×widths[l+1]; the last units are outputs
}

// forward fills the units for at most chunk examples.
func (w *PerceptronWorker) forward(theta []float32, batch Dataset) []float32 {
	rows, below := batch.Len(), batch.Inputs
	for l := range w.Layers() {
		in, out := w.widths[l], w.widths[l+1]
		gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, general(rows, in, below), general(in, out, w.layer(theta, l)), 0,
			general(rows, out, w.units[l]))
		below = w.units[l]
		if l < w.Layers()-1 {
			for i, v := range below[:rows*out] {
				below[i] = tanh(v)
			}
		}
	}
	return below
}

// Loss returns the mean cross-entropy.
func (w *PerceptronWorker) Loss(theta []float32, batch Dataset) float64 {
	return meanLoss(w, theta, batch, crossEntropy)
}

// Correct returns how many records have their class's output above all others.
func (w *PerceptronWorker) Correct(theta []float32, batch Dataset) int {
	return countRight(w, theta, batch)
}

// ClippedSumTo writes the sum of the clipped gradients to dst. With clip = +Inf nothing is clipped.
func (w *PerceptronWorker) ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int) {
	clear(dst)
	last := w.Layers() - 1
	forEach(w, theta, batch, func(_ Dataset, i int, out []float32, y float32) {
		delta := w.deltas[last][i*len(out) : (i+1)*len(out)]
		copy(delta, out)
		crossEntropy(delta, y)
	}, func(part Dataset) {
		w.backward(theta, part.Len())
		clipped += w.clip(part, clip)
		below := part.Inputs
		for l := range w.Layers() {
			in, out := w.widths[l], w.widths[l+1]
			gemm.Gemm32(blas.Trans, blas.NoTrans, 1, general(part.Len(), in, below), general(part.Len(), out, w.deltas[l]), 1,
				general(in, out, w.layer(dst, l)))
			below = w.units[l]
		}
	})
	return clipped
}

// backward fills the deltas of all layers from the last layer's.
func (w *PerceptronWorker) backward(theta []float32, rows int) {
	for l := w.Layers() - 1; l > 0; l-- {
		in, out := w.widths[l], w.widths[l+1]
		gemm.Gemm32(blas.NoTrans, blas.Trans, 1, general(rows, out, w.deltas[l]), general(in, out, w.layer(theta, l)), 0,
			general(rows, in, w.deltas[l-1]))
		for i, h := range w.units[l-1][:rows*in] {
			w.deltas[l-1][i] *= 1 - h*h
		}
	}
}

// clip scales the deltas of records whose gradients are too long.
func (w *PerceptronWorker) clip(part Dataset, clip float64) (clipped int) {
	for i := range part.Targets {
		var squared float64
		below, width := part.Inputs, w.widths[0]
		for l := range w.Layers() {
			out := w.widths[l+1]
			squared += squaredNorm(below[i*width:(i+1)*width]) * squaredNorm(w.deltas[l][i*out:(i+1)*out])
			below, width = w.units[l], out
		}
		factor, over := clipFactor(squared, clip)
		if !over {
			continue
		}
		clipped++
		for l := range w.Layers() {
			out := w.widths[l+1]
			blas32.Scal(float32(factor), vector(w.deltas[l][i*out:(i+1)*out]))
		}
	}
	return clipped
}
