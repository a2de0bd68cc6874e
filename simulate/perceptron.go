package simulate

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
)

// Perceptron is a model of several linear layers with a function of every unit between them, tanh or max(0, ·), under the
// cross-entropy of the softmax of its outputs or, with one output, the squared loss (o - y)²:
//
//	h₀ = x,   h_l = tanh(W_lᵀ h_{l-1} + b_l),   o = W_Lᵀ h_{L-1} + b_L
//
// Its parameters are W_1, b_1, …, W_L, b_L (W: inputs×outputs, row by row), or the W alone. The gradient of one record is
// an outer product (h_{l-1}, 1) δ_lᵀ a layer, of squared norm Σ_l (‖h_{l-1}‖² + 1)‖δ_l‖², without the 1 if there is no b, with
// δ_L = softmax(o) - e_y or 2(o - y). A linear model has one layer, and W by outputs: outputs×inputs. A Perceptron is
// immutable.
type Perceptron struct {
	widths    []int
	biased    bool // layers have b
	rectified bool // max(0, ·) in the place of tanh
	squared   bool // the loss
}

// NewLinear returns linear regression. It panics if there is no feature.
func NewLinear(features int) *Perceptron {
	return (&Perceptron{widths: []int{features, 1}, biased: true, squared: true}).checked()
}

// NewLogistic returns logistic regression on two or more classes. It panics if there are fewer, or no feature.
func NewLogistic(features, classes int) *Perceptron {
	return (&Perceptron{widths: []int{features, classes}, biased: true}).checked()
}

// NewMLP returns a perceptron with a hidden layer of rectifiers, one output and the squared loss. It panics if there is no
// feature or no hidden unit.
func NewMLP(features, hidden int) *Perceptron {
	return (&Perceptron{widths: []int{features, hidden, 1}, biased: true, rectified: true, squared: true}).checked()
}

// NewPerceptron returns a perceptron of tanh, without b, with these numbers of inputs, hidden units, and classes:
// NewPerceptron(784, 10, 784, 10) is the one of Zhou et al., Section V. It panics for fewer than two widths, one below 1, or a
// single class.
func NewPerceptron(widths ...int) *Perceptron {
	return (&Perceptron{widths: slices.Clone(widths)}).checked()
}

func (p *Perceptron) checked() *Perceptron {
	if w := p.widths; len(w) < 2 || slices.Min(w) < 1 || !p.squared && p.outputs() < 2 {
		panic(fmt.Sprintf("simulate: a perceptron of widths %v", w))
	}
	return p
}

// linear reports whether the model is linear.
func (p *Perceptron) linear() bool { return p.biased && p.Layers() == 1 }

// Layers returns L.
func (p *Perceptron) Layers() int { return len(p.widths) - 1 }

// Prefix returns the number of parameters of the first layers.
func (p *Perceptron) Prefix(layers int) int {
	size := 0
	for l := range layers {
		size += p.widths[l] * p.widths[l+1]
		if p.biased {
			size += p.widths[l+1]
		}
	}
	return size
}

// Features returns the number of inputs.
func (p *Perceptron) Features() int { return p.widths[0] }

func (p *Perceptron) outputs() int { return p.widths[len(p.widths)-1] }

// Size returns the number of parameters.
func (p *Perceptron) Size() int { return p.Prefix(p.Layers()) }

// Init draws every layer from the uniform distribution on ±1/√(its inputs), as PyTorch's layers do; a linear model, whose
// loss is convex, starts at zero.
func (p *Perceptron) Init(theta []float32, r *rand.Rand) {
	if p.linear() {
		clear(theta)
		return
	}
	for l := range p.Layers() {
		layer, bound := theta[p.Prefix(l):p.Prefix(l+1)], 1/math.Sqrt(float64(p.widths[l]))
		for i := range layer {
			layer[i] = float32((2*r.Float64() - 1) * bound)
		}
	}
}

// weights cuts W_{l+1} out of parameters, or of a gradient, with how it is to be multiplied from the left.
func (p *Perceptron) weights(theta []float32, l int) (w blas32.General, side blas.Transpose) {
	in, out := p.widths[l], p.widths[l+1]
	if p.linear() {
		return general(out, in, theta), blas.Trans
	}
	return general(in, out, theta[p.Prefix(l):]), blas.NoTrans
}

// biases cuts b_{l+1} out of parameters, or of a gradient, of a model that has it.
func (p *Perceptron) biases(theta []float32, l int) []float32 {
	return theta[p.Prefix(l+1)-p.widths[l+1] : p.Prefix(l+1)]
}

// tanh returns the hyperbolic tangent to the precision of float32, in half the time of math.Tanh.
func tanh(x float32) float32 {
	if v := float64(x); math.Abs(v) > 1e-4 {
		return float32(1 - 2/(math.Exp(2*v)+1))
	}
	return x - x*x*x/3
}

// activate replaces the sums of units by their values. NaN stays NaN.
func (p *Perceptron) activate(h []float32) {
	if !p.rectified {
		for i, v := range h {
			h[i] = tanh(v)
		}
		return
	}
	for i, v := range h { // without a branch, which would be mispredicted half of the time
		h[i] = 0.5 * (v + math.Float32frombits(math.Float32bits(v)&^(1<<31)))
	}
}

// answer multiplies errors of units by the derivative at their values.
func (p *Perceptron) answer(deltas, h []float32) {
	if !p.rectified {
		for i, v := range h {
			deltas[i] *= 1 - v*v
		}
		return
	}
	for i, v := range h { // the bits of an h > 0 are a positive number
		mask := uint32(-int32(math.Float32bits(v)) >> 31)
		deltas[i] = math.Float32frombits(math.Float32bits(deltas[i]) & mask)
	}
}

// Check rejects data that do not fit, with ErrData: it accepts one record or more, finite inputs, and finite targets or the
// numbers of classes.
func (p *Perceptron) Check(data Dataset) error {
	if data.Features != p.Features() || len(data.Inputs) != data.Len()*data.Features || data.Len() == 0 {
		return fmt.Errorf("%w: %d rows with %d features for a model of %d", ErrData, data.Len(), data.Features, p.Features())
	}
	for _, numbers := range [][]float32{data.Inputs, data.Targets} {
		for i, v := range numbers {
			if v-v != 0 {
				return fmt.Errorf("%w: number %d of %d is %v", ErrData, i, len(numbers), v)
			}
		}
	}
	for i, y := range data.Targets {
		if !p.squared && (y < 0 || y >= float32(p.outputs()) || y != float32(int(y))) {
			return fmt.Errorf("%w: target of example %d is %v: must be a class from 0 to %d", ErrData, i, y, p.outputs()-1)
		}
	}
	return nil
}

// A Worker computes with a perceptron's parameters theta. It is for one goroutine.
type Worker struct {
	*Perceptron
	units, deltas [][]float32 // values and errors of the layers: chunk×widths[l+1]; the last units are outputs
}

// NewWorker returns a worker.
func (p *Perceptron) NewWorker() *Worker {
	w := &Worker{Perceptron: p}
	for _, width := range p.widths[1:] {
		w.units, w.deltas = append(w.units, make([]float32, chunk*width)), append(w.deltas, make([]float32, chunk*width))
	}
	w.deltas[p.Layers()-1] = w.units[p.Layers()-1] // outputs turn into δ
	return w
}

// chunk is how many examples are multiplied at once: few enough for the cache, and for gonum not to start goroutines.
const chunk = 64

// parts returns a batch in parts of at most chunk records, whose units are filled in.
func (w *Worker) parts(theta []float32, batch Dataset) iter.Seq[Dataset] {
	return func(yield func(part Dataset) bool) {
		for from := 0; from < batch.Len(); from += chunk {
			part := batch.Slice(from, min(from+chunk, batch.Len()))
			if w.forward(theta, part); !yield(part) {
				return
			}
		}
	}
}

// forward fills the units for at most chunk examples.
func (w *Worker) forward(theta []float32, part Dataset) {
	rows, below, old := part.Len(), part.Inputs, float32(0)
	for l, units := range w.units {
		in, out := w.widths[l], w.widths[l+1]
		if w.biased {
			old = 1
			for i := range rows {
				copy(units[i*out:], w.biases(theta, l))
			}
		}
		weights, side := w.weights(theta, l)
		gemm.Gemm32(blas.NoTrans, side, 1, general(rows, in, below), weights, old, general(rows, out, units))
		if l < w.Layers()-1 {
			w.activate(units[:rows*out])
		}
		below = units
	}
}

// delta returns a layer's δ of the record at a place in its part: first, of the last layer, its outputs.
func (w *Worker) delta(l, i int) []float32 {
	out := w.widths[l+1]
	return w.deltas[l][i*out : (i+1)*out]
}

// lossAndDelta returns the loss of a record of a part, and turns its outputs into δ.
func (w *Worker) lossAndDelta(i int, y float32) float64 {
	o := w.delta(w.Layers()-1, i)
	if !w.squared {
		return crossEntropy(o, y)
	}
	e := float64(o[0]) - float64(y)
	o[0] = float32(2 * e)
	return e * e
}

// crossEntropy returns the loss of outputs for a class, and turns them into softmax(o) - e_y.
func crossEntropy(o []float32, y float32) float64 {
	most := float64(o[0])
	for _, v := range o[1:] {
		most = math.Max(most, float64(v))
	}
	var sum float64
	for _, v := range o {
		sum += math.Exp(float64(v) - most)
	}
	loss := math.Log(sum) + most - float64(o[int(y)])
	for c, v := range o {
		o[c] = float32(math.Exp(float64(v)-most) / sum)
	}
	o[int(y)]--
	return loss
}

// Loss returns the mean squared error of a batch, or its mean cross-entropy in nats.
func (w *Worker) Loss(theta []float32, batch Dataset) float64 {
	var sum float64
	for part := range w.parts(theta, batch) {
		for i, y := range part.Targets {
			sum += w.lossAndDelta(i, y)
		}
	}
	return sum / float64(batch.Len())
}

// Correct returns how many records of the batch have their class's output above all others.
func (w *Worker) Correct(theta []float32, batch Dataset) (count int) {
	for part := range w.parts(theta, batch) {
		for i, y := range part.Targets {
			if leads(w.delta(w.Layers()-1, i), int(y)) {
				count++
			}
		}
	}
	return count
}

// leads reports whether an output is above all others.
func leads(out []float32, at int) bool {
	for c, v := range out {
		if c != at && !(v < out[at]) {
			return false
		}
	}
	return true
}

// ClippedSumTo writes the sum over the batch of the gradients of single records, each scaled down to a Euclidean norm of
// at most clip, to dst, and returns how many were scaled. A record whose gradient is not finite makes dst so; with clip = +Inf
// nothing is clipped.
func (w *Worker) ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int) {
	clear(dst)
	for part := range w.parts(theta, batch) {
		for i, y := range part.Targets {
			w.lossAndDelta(i, y)
		}
		w.backward(theta, part.Len())
		clipped += w.clip(part, clip)
		below := part.Inputs
		for l := range w.Layers() {
			a, b := general(part.Len(), w.widths[l], below), general(part.Len(), w.widths[l+1], w.deltas[l])
			sum, side := w.weights(dst, l)
			if side == blas.Trans {
				a, b = b, a
			}
			gemm.Gemm32(blas.Trans, blas.NoTrans, 1, a, b, 1, sum)
			for i := 0; w.biased && i < part.Len(); i++ {
				blas32.Axpy(1, vector(w.delta(l, i)), vector(w.biases(dst, l)))
			}
			below = w.units[l]
		}
	}
	return clipped
}

// backward fills the deltas of all layers from the last layer's.
func (w *Worker) backward(theta []float32, rows int) {
	for l := w.Layers() - 1; l > 0; l-- {
		in, out := w.widths[l], w.widths[l+1]
		weights, _ := w.weights(theta, l)
		gemm.Gemm32(blas.NoTrans, blas.Trans, 1, general(rows, out, w.deltas[l]), weights, 0, general(rows, in, w.deltas[l-1]))
		w.answer(w.deltas[l-1][:rows*in], w.units[l-1][:rows*in])
	}
}

// clip scales the deltas of records whose gradients are too long, and returns how many these are.
func (w *Worker) clip(part Dataset, clip float64) (clipped int) {
	for i := range part.Targets {
		squared, one, below := 0.0, 0.0, part.Inputs
		if w.biased {
			one = 1 // the input of biases
		}
		for l, width := range w.widths[:w.Layers()] {
			squared += (squaredNorm(below[i*width:(i+1)*width]) + one) * squaredNorm(w.delta(l, i))
			below = w.units[l]
		}
		if squared <= clip*clip {
			continue
		}
		clipped++
		for l := range w.Layers() {
			blas32.Scal(float32(clip/math.Sqrt(squared)), vector(w.delta(l, i)))
		}
	}
	return clipped
}

// general is the r×c matrix of the numbers, row by row.
func general(r, c int, data []float32) blas32.General {
	return blas32.General{Rows: r, Cols: c, Stride: c, Data: data[:r*c]}
}

func vector(data []float32) blas32.Vector { return blas32.Vector{N: len(data), Inc: 1, Data: data} }

// squaredNorm is of float64, for what does not fit float32.
func squaredNorm(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}
