package simulate

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Model is a function of inputs and d parameters with a loss. Implementations are immutable.
type Model interface {
	Features() int                      // of an input
	Size() int                          // d
	Init(theta []float32, r *rand.Rand) // the parameters to start from
	Check(data Dataset) error           // whether the targets are ones of this model
	NewWorker() Worker                  // scratch for one goroutine
}

// A Worker computes with a model's parameters theta. It is for one goroutine.
type Worker interface {
	// ClippedSumTo writes the sum over the batch of the gradients of single records, each scaled down to a Euclidean norm of at
	// most clip, to dst, and returns how many were scaled. A record whose gradient is not finite makes dst so.
	ClippedSumTo(dst, theta []float32, batch Dataset, clip float64) (clipped int)

	// Loss returns the mean loss of the batch.
	Loss(theta []float32, batch Dataset) float64
}

// A Classifier is a Worker of a model that tells classes apart.
type Classifier interface {
	Worker

	// Correct returns how many records of the batch have their class's output above all others.
	Correct(theta []float32, batch Dataset) int
}

// countRight returns how many records have their class's output above all others.
func countRight(w forwarder, theta []float32, batch Dataset) (count int) {
	forEach(w, theta, batch, func(_ Dataset, _ int, out []float32, y float32) {
		for c, v := range out {
			if c != int(y) && !(v < out[int(y)]) {
				return
			}
		}
		count++
	}, nil)
	return count
}

// chunk is how many examples are multiplied at once: few enough for the cache, and for gonum not to start goroutines.
const chunk = 64

// forwarder returns the outputs of at most chunk examples, with room for as many.
type forwarder interface {
	forward(theta []float32, part Dataset) (out []float32)
}

// forEach calls f with the outputs and the target of every record of a batch, and its place in its chunk, and after, if
// not nil, behind every chunk.
func forEach(w forwarder, theta []float32, batch Dataset, f func(part Dataset, i int, out []float32, y float32),
	after func(part Dataset)) {
	for from := 0; from < batch.Len(); from += chunk {
		part := batch.Slice(from, min(from+chunk, batch.Len()))
		out := w.forward(theta, part)
		width := len(out) / chunk
		for i, y := range part.Targets {
			f(part, i, out[i*width:(i+1)*width], y)
		}
		if after != nil {
			after(part)
		}
	}
}

// meanLoss returns the mean of the losses of all records of a batch.
func meanLoss(w forwarder, theta []float32, batch Dataset, loss func(out []float32, y float32) float64) float64 {
	var sum float64
	forEach(w, theta, batch, func(_ Dataset, _ int, out []float32, y float32) { sum += loss(out, y) }, nil)
	return sum / float64(batch.Len())
}

// clipFactor returns min(1, clip/norm) for a squared norm: 1 where nothing is to be clipped, NaN for NaN.
func clipFactor(squared, clip float64) (factor float64, clipped bool) {
	if squared <= clip*clip {
		return 1, false
	}
	return clip / math.Sqrt(squared), true
}

// uniformInit draws from the uniform distribution on ±1/√fan, as PyTorch's layers do.
func uniformInit(theta []float32, fan int, r *rand.Rand) {
	bound := 1 / math.Sqrt(float64(fan))
	for i := range theta {
		theta[i] = float32((2*r.Float64() - 1) * bound)
	}
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
