package simulate

import (
	"math"
	"math/rand/v2"
)

// Synthetic tasks: inputs are normal, with variances from 1 down to 1/4, and 80 % of the records are for training.
const (
	syntheticTrain    = 0.8
	syntheticResidual = 0.5 // standard deviation of what a linear model cannot explain
	syntheticMargin   = 3   // of the classes' outputs
)

// LinearTask is linear regression on data made from the seed: y = w·x + noise of standard deviation 1/2, ‖w‖ = 1. It panics
// if there are fewer than ten records or no feature.
func LinearTask(records, features int) Task {
	checkSynthetic(records, features)
	return Task{Name: "linear", Model: NewLinear(features), LearningRate: 0.05, Split: func(seed uint64) (train, test Dataset) {
		r := random(seed, forSynthetic, 0)
		w := direction(features, r)
		return synthetic(records, features, r, func(x []float32) float32 {
			return float32(dot(w, x) + syntheticResidual*r.NormFloat64())
		})
	}}
}

// LogisticTask is logistic regression on data made from the seed: the class is the largest of w_c·x plus Gumbel noise, which
// is what softmax assumes. It panics if there are fewer than ten records, no feature or fewer than two classes.
func LogisticTask(records, features, classes int) Task {
	checkSynthetic(records, features)
	return Task{Name: "logistic", Model: NewLogistic(features, classes), LearningRate: 0.2, Split: func(seed uint64) (train, test Dataset) {
		r := random(seed, forSynthetic, 0)
		w := make([][]float64, classes)
		for c := range w {
			w[c] = direction(features, r)
		}
		return synthetic(records, features, r, func(x []float32) float32 {
			best, class := math.Inf(-1), 0
			for c := range w {
				if v := syntheticMargin*dot(w[c], x) - math.Log(r.ExpFloat64()); v > best {
					best, class = v, c
				}
			}
			return float32(class)
		})
	}}
}

func checkSynthetic(records, features int) {
	if records < 10 || features < 1 {
		panic("simulate: too few records or features")
	}
}

// direction returns a random vector of norm one.
func direction(features int, r *rand.Rand) []float64 {
	w := make([]float64, features)
	var squared float64
	for i := range w {
		w[i] = r.NormFloat64()
		squared += w[i] * w[i]
	}
	for i := range w {
		w[i] /= math.Sqrt(squared)
	}
	return w
}

func dot(w []float64, x []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += w[i] * float64(v)
	}
	return sum
}

// synthetic draws inputs and asks for their targets.
func synthetic(records, features int, r *rand.Rand, target func(x []float32) float32) (train, test Dataset) {
	all := Dataset{features, make([]float32, records*features), make([]float32, records)}
	for i := range records {
		x := all.Slice(i, i+1).Inputs
		for j := range x {
			x[j] = float32(r.NormFloat64() * math.Pow(0.5, float64(j)/float64(features)))
		}
		all.Targets[i] = target(x)
	}
	at := int(syntheticTrain * float64(records))
	return all.Slice(0, at), all.Slice(at, records)
}
