package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
)

// Linear is a linear model o = Wx + b, either with one output and the squared loss (o - y)², or with an output a class and
// the cross-entropy of their softmax, which is logistic regression. Its parameters are W (outputs×features, row by row) and
// b. The gradient of one record is (δxᵀ, δ), of squared norm ‖δ‖²(‖x‖²+1), with δ = 2(o - y) or softmax(o) - e_y.
type Linear struct {
	features, outputs int
	logistic          bool
}

// NewLinear returns linear regression. It panics if there is no feature.
func NewLinear(features int) Linear { return Linear{features, 1, false}.checked() }

// NewLogistic returns logistic regression on two or more classes. It panics if there are fewer, or no feature.
func NewLogistic(features, classes int) Linear { return Linear{features, classes, true}.checked() }

func (l Linear) checked() Linear {
	if l.features < 1 || l.logistic && l.outputs < 2 {
		panic("simulate: a linear model without features, or of fewer than two classes")
	}
	return l
}

var _ Model = Linear{}

// Features returns the number of inputs.
func (l Linear) Features() int { return l.features }

// Size returns the number of parameters.
func (l Linear) Size() int { return l.outputs * (l.features + 1) }

// Init sets everything to zero: the loss is convex.
func (l Linear) Init(theta []float32, _ *rand.Rand) { clear(theta) }

// Check accepts finite targets, or the numbers of classes.
func (l Linear) Check(data Dataset) error {
	if !l.logistic {
		return checkFinite(data)
	}
	return checkClasses(data, l.outputs)
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

// NewWorker returns scratch for one goroutine: a Classifier, for logistic regression.
func (l Linear) NewWorker() Worker {
	w := &linearWorker{l, make([]float32, chunk*l.outputs)}
	if l.logistic {
		return logisticWorker{w}
	}
	return w
}

type linearWorker struct {
	Linear
	out []float32 // chunk×outputs: o, then δ
}

// forward fills out with o for at most chunk examples.
func (w *linearWorker) forward(theta []float32, batch Dataset) []float32 {
	weights, biases := theta[:w.outputs*w.features], theta[w.outputs*w.features:]
	rows := batch.Len()
	for i := range rows {
		copy(w.out[i*w.outputs:], biases)
	}
	gemm.Gemm32(blas.NoTrans, blas.Trans, 1, general(rows, w.features, batch.Inputs), general(w.outputs, w.features, weights), 1,
		general(rows, w.outputs, w.out))
	return w.out
}

// lossAndDelta returns the loss of an example, and turns o into δ.
func (w *linearWorker) lossAndDelta(o []float32, y float32) float64 {
	if !w.logistic {
		e := float64(o[0]) - float64(y)
		o[0] = float32(2 * e)
		return e * e
	}
	return crossEntropy(o, y)
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
func (w *linearWorker) Loss(theta []float32, batch Dataset) float64 {
	return meanLoss(w, theta, batch, w.lossAndDelta)
}

// logisticWorker treats outputs as scores of classes.
type logisticWorker struct{ *linearWorker }

var _ Classifier = logisticWorker{}

// Correct returns how many records have their class's output above all others.
func (w logisticWorker) Correct(theta []float32, batch Dataset) int {
	return countRight(w, theta, batch)
}

// ClippedSumTo writes the sum of the clipped gradients to dst.
func (w *linearWorker) ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int) {
	clear(dst)
	weights, biases := dst[:w.outputs*w.features], dst[w.outputs*w.features:]
	forEach(w, theta, batch, func(part Dataset, i int, delta []float32, y float32) {
		w.lossAndDelta(delta, y)
		factor, over := clipFactor(squaredNorm(delta)*(squaredNorm(part.Slice(i, i+1).Inputs)+1), clip)
		if over {
			clipped++
		}
		blas32.Scal(float32(factor), vector(delta))
		blas32.Axpy(1, vector(delta), vector(biases))
	}, func(part Dataset) {
		rows := part.Len()
		gemm.Gemm32(blas.Trans, blas.NoTrans, 1, general(rows, w.outputs, w.out), general(rows, w.features, part.Inputs), 1,
			general(w.outputs, w.features, weights))
	})
	return clipped
}
