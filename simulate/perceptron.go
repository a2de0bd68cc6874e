package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
)

// Perceptron is a model of several linear layers with tanh between them, under the cross-entropy of the softmax of its outputs:
//
//	h₀ = x,   h_l = tanh(W_lᵀ h_{l-1}),   o = W_Lᵀ h_{L-1}
//
// Its parameters are W_1, …, W_L (inputs×outputs each, row by row). The gradient of one record is an outer product h_{l-1} δ_lᵀ a layer,
// of squared norm Σ_l ‖h_{l-1}‖²‖δ_l‖². NewPerceptron(784, 10, 784, 10) is the one of Zhou et al., Section V.
//
// A linear model is a perceptron of one layer with biases, o = Wx + b, under the cross-entropy, which is logistic regression, or,
// with one output, under the squared loss (o - y)². Its parameters are W (outputs×inputs, row by row) and b. The gradient of one
// record is (δxᵀ, δ), of squared norm ‖δ‖²(‖x‖²+1), with δ = softmax(o) - e_y or 2(o - y).
type Perceptron struct {
	widths  []int
	linear  bool // one layer with biases, and W by outputs
	squared bool // the loss
}

// NewLinear returns linear regression. It panics if there is no feature.
func NewLinear(features int) Perceptron {
	return Perceptron{widths: []int{features, 1}, linear: true, squared: true}.checked()
}

// NewLogistic returns logistic regression on two or more classes. It panics if there are fewer, or no feature.
func NewLogistic(features, classes int) Perceptron {
	return Perceptron{widths: []int{features, classes}, linear: true}.checked()
}

// NewPerceptron returns a perceptron with these numbers of inputs, hidden units, and classes. It panics for fewer than two widths, one
// below 1, or a single class.
func NewPerceptron(widths ...int) Perceptron {
	return Perceptron{widths: slices.Clone(widths)}.checked()
}

func (p Perceptron) checked() Perceptron {
	if w := p.widths; len(w) < 2 || slices.Min(w) < 1 || !p.squared && p.outputs() < 2 {
		panic(fmt.Sprintf("simulate: a perceptron of widths %v", w))
	}
	return p
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
	if p.linear {
		size += layers * p.outputs()
	}
	return size
}

// Features returns the number of inputs.
func (p Perceptron) Features() int { return p.widths[0] }

// Size returns the number of parameters.
func (p Perceptron) Size() int { return p.Prefix(p.Layers()) }

// Init draws every layer from ±1/√(its inputs); a linear model, whose loss is convex, starts at zero.
func (p Perceptron) Init(theta []float32, r *rand.Rand) {
	if p.linear {
		clear(theta)
		return
	}
	for l := range p.Layers() {
		uniformInit(theta[p.Prefix(l):p.Prefix(l+1)], p.widths[l], r)
	}
}

// weights cuts W_{l+1} out of parameters, or of a gradient, with how it is to be multiplied from the left.
func (p Perceptron) weights(theta []float32, l int) (w blas32.General, side blas.Transpose) {
	in, out := p.widths[l], p.widths[l+1]
	if p.linear {
		return general(out, in, theta), blas.Trans
	}
	return general(in, out, theta[p.Prefix(l):]), blas.NoTrans
}

// biases returns b of parameters, or of a gradient, of a linear model.
func (p Perceptron) biases(theta []float32) []float32 { return theta[p.Features()*p.outputs():] }

// tanh returns the hyperbolic tangent to the precision of float32, in half the time of math.Tanh.
func tanh(x float32) float32 {
	if v := float64(x); math.Abs(v) > 1e-4 {
		return float32(1 - 2/(math.Exp(2*v)+1))
	}
	return x - x*x*x/3
}

// Check accepts finite targets, or the numbers of classes.
func (p Perceptron) Check(data Dataset) error {
	if p.squared {
		return checkFinite(data)
	}
	return checkClasses(data, p.outputs())
}

// checkClasses accepts finite inputs and the numbers of classes.
func checkClasses(data Dataset, classes int) error {
	if err := checkFinite(data); err != nil {
		return err
	}
	for i, y := range data.Targets {
		if y < 0 || y >= float32(classes) || y != float32(int(y)) {
			return fmt.Errorf("target of example %d is %v: must be a class from 0 to %d", i, y, classes-1)
		}
	}
	return nil
}

func checkFinite(data Dataset) error {
	for _, numbers := range [][]float32{data.Inputs, data.Targets} {
		for i, v := range numbers {
			if v-v != 0 {
				return fmt.Errorf("number %d of %d in the data is %v", i, len(numbers), v)
			}
		}
	}
	return nil
}

func (p Perceptron) outputs() int { return p.widths[len(p.widths)-1] }

// NewWorker returns scratch for one goroutine: a Classifier, unless the loss is the squared one.
func (p Perceptron) NewWorker() Worker {
	w := &perceptronWorker{Perceptron: p}
	for _, width := range p.widths[1:] {
		w.units, w.deltas = append(w.units, make([]float32, chunk*width)), append(w.deltas, make([]float32, chunk*width))
	}
	w.deltas[p.Layers()-1] = w.units[p.Layers()-1] // outputs turn into δ
	if p.squared {
		return w
	}
	return classifier{w}
}

type perceptronWorker struct {
	Perceptron
	units, deltas [][]float32 // values and errors of the layers: chunk×widths[l+1]; the last units are outputs
}

// classifier treats outputs as scores of classes.
type classifier struct{ *perceptronWorker }

var _ Classifier = classifier{}

// Correct returns how many records of the batch have their class's output above all others.
func (w classifier) Correct(theta []float32, batch Dataset) int { return countRight(w, theta, batch) }

// forward fills the units for at most chunk examples.
func (w *perceptronWorker) forward(theta []float32, batch Dataset) []float32 {
	rows, below, old := batch.Len(), batch.Inputs, float32(0)
	if w.linear {
		old = 1
		for i := range rows {
			copy(w.units[0][i*w.outputs():], w.biases(theta))
		}
	}
	for l := range w.Layers() {
		in, out := w.widths[l], w.widths[l+1]
		weights, side := w.weights(theta, l)
		gemm.Gemm32(blas.NoTrans, side, 1, general(rows, in, below), weights, old, general(rows, out, w.units[l]))
		below = w.units[l]
		if l < w.Layers()-1 {
			for i, v := range below[:rows*out] {
				below[i] = tanh(v)
			}
		}
	}
	return below
}

// lossAndDelta returns the loss of an example, and turns its outputs into δ.
func (w *perceptronWorker) lossAndDelta(o []float32, y float32) float64 {
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

// Loss returns the mean squared error, or the mean cross-entropy in nats.
func (w *perceptronWorker) Loss(theta []float32, batch Dataset) float64 {
	return meanLoss(w, theta, batch, w.lossAndDelta)
}

// ClippedSumTo writes the sum of the clipped gradients to dst. With clip = +Inf nothing is clipped.
func (w *perceptronWorker) ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int) {
	clear(dst)
	forEach(w, theta, batch, func(_ Dataset, _ int, out []float32, y float32) { w.lossAndDelta(out, y) }, func(part Dataset) {
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
			below = w.units[l]
		}
		if w.linear {
			for i := range part.Len() {
				blas32.Axpy(1, vector(w.delta(0, i)), vector(w.biases(dst)))
			}
		}
	})
	return clipped
}

// delta returns a layer's δ of the record at a place in its chunk.
func (w *perceptronWorker) delta(l, i int) []float32 {
	out := w.widths[l+1]
	return w.deltas[l][i*out : (i+1)*out]
}

// backward fills the deltas of all layers from the last layer's.
func (w *perceptronWorker) backward(theta []float32, rows int) {
	for l := w.Layers() - 1; l > 0; l-- {
		in, out := w.widths[l], w.widths[l+1]
		weights, _ := w.weights(theta, l)
		gemm.Gemm32(blas.NoTrans, blas.Trans, 1, general(rows, out, w.deltas[l]), weights, 0, general(rows, in, w.deltas[l-1]))
		for i, h := range w.units[l-1][:rows*in] {
			w.deltas[l-1][i] *= 1 - h*h
		}
	}
}

// clip scales the deltas of records whose gradients are too long.
func (w *perceptronWorker) clip(part Dataset, clip float64) (clipped int) {
	for i := range part.Targets {
		squared, one, below := 0.0, 0.0, part.Inputs
		if w.linear {
			one = 1 // the input of biases
		}
		for l, width := range w.widths[:w.Layers()] {
			squared += (squaredNorm(below[i*width:(i+1)*width]) + one) * squaredNorm(w.delta(l, i))
			below = w.units[l]
		}
		factor, over := clipFactor(squared, clip)
		if !over {
			continue
		}
		clipped++
		for l := range w.Layers() {
			blas32.Scal(float32(factor), vector(w.delta(l, i)))
		}
	}
	return clipped
}
