package simulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/workload"
)

// moments returns twice the mean of x̃x̃ᵀ, x̃ = (x, 1): the second derivatives of linear regression.
func moments(d Dataset) *mat.SymDense {
	h := mat.NewSymDense(d.Features+1, nil)
	for i := range d.Len() {
		x := append(widen(d.Slice(i, i+1).Inputs), 1)
		h.SymRankOne(h, 2/float64(d.Len()), mat.NewVecDense(len(x), x))
	}
	return h
}

// sums returns Σ Weight, Σ Weight·X and the largest X.
func sums(c workload.Curvature) (weight, first, largest float64) {
	for _, d := range c {
		weight, first, largest = weight+d.Weight, first+d.Weight*d.X, math.Max(largest, d.X)
	}
	return weight, first, largest
}

// Linear regression without clipping curves as the second moments of its records, of few and of many features. Of many,
// Lanczos' method knows the largest, and the sums up to what three random directions say.
func TestCurvatureOfLinearRegression(t *testing.T) {
	for features, within := range map[int]float64{20: 1e-3, 150: 0.1} {
		task := LinearTask(2000, features)
		train, _ := task.Split(0)
		h := moments(train)
		var eigen mat.EigenSym
		eigen.Factorize(h, false)
		values := eigen.Values(nil)
		var squares float64
		for _, v := range values {
			squares += v * v
		}
		weight, first, largest := sums(task.Curvature(1e6))
		if !near(weight, mat.Trace(h), within) || !near(first, squares, within+3e-3) ||
			!near(largest, values[len(values)-1], 0.05) {
			t.Errorf("%d features: %v, %v, %v; must be %v, %v, %v", features, weight, first, largest, mat.Trace(h), squares,
				values[len(values)-1])
		}
	}
}

// Derivatives of gradients are those of logistic regression, mean of ((diag(p) - ppᵀ)v x̃)x̃ᵀ for p = softmax(Wx + b).
func TestDerivativeOfLogisticRegression(t *testing.T) {
	const features, classes = 3, 4
	task := LogisticTask(100, features, classes)
	train, _ := task.Split(0)
	r := rand.New(rand.NewPCG(1, 2))
	size := task.Model.Size()
	f := &field{Worker: task.Model.NewWorker(), data: train, at: make([]float32, size)}
	along, want := make([]float64, size), make([]float64, size)
	for i := range along {
		f.at[i], along[i] = float32(r.NormFloat64()), r.NormFloat64()/math.Sqrt(float64(size))
	}
	outputs := func(theta []float64, x []float64, c int) float64 { // weights by class, then biases
		sum := theta[classes*features+c]
		for j, v := range x {
			sum += theta[c*features+j] * v
		}
		return sum
	}
	for i := range train.Len() {
		x := widen(train.Slice(i, i+1).Inputs)
		var p, v [classes]float64
		var total, mean float64
		for c := range classes {
			p[c], v[c] = math.Exp(outputs(widen(f.at), x, c)), outputs(along, x, c)
			total += p[c]
		}
		for c := range classes {
			p[c] /= total
			mean += p[c] * v[c]
		}
		for c := range classes {
			answer := p[c] * (v[c] - mean) / float64(train.Len())
			for j, a := range x {
				want[c*features+j] += answer * a
			}
			want[classes*features+c] += answer
		}
	}
	for i, got := range f.derivative(along, math.Inf(1)) {
		if math.Abs(got-want[i]) > 1e-4 {
			t.Errorf("entry %d is %v, must be %v", i, got, want[i])
		}
	}
}

// Training without noise, by batches of all records, is above the least loss by what is predicted of a task: exactly, but
// for rounding, or, of many features, nearly. Where clipping is active, the start is as far above it as without.
func TestTrainingOfTask(t *testing.T) {
	const steps, nodes = 8, 7
	for features, within := range map[int]float64{6: 2e-3, 150: 2e-2} {
		task := LinearTask(500, features)
		train, _ := task.Split(0)
		of, records, err := task.Training(1e6, nodes)
		if err != nil || records != train.Len()/nodes {
			t.Fatal(records, err)
		}
		f := task.field(train, 1e6)
		for range 20 {
			f.settle(task.LearningRate)
		}
		least := f.Loss(f.at, train)
		task.Model.Init(f.at, random(0, forStart, 0))
		start := f.Loss(f.at, train) - least
		var above float64
		for range steps {
			blas32.Axpy(-float32(task.LearningRate), vector(f.gradient(f.at, f.clip)), vector(f.at))
			above += (f.Loss(f.at, train) - least) / steps
		}
		of.Nodes, of.Steps = nodes, steps
		if e, err := of.Predict(0, 0); err != nil || !near(e.Bias, above, within) {
			t.Errorf("%d features: %v is predicted, and %v is true: %v", features, e.Bias, above, err)
		}
		clipped, _, err := task.Training(0.5, nodes)
		var far float64
		for j, x := range clipped.X {
			far += clipped.Directions[j] * x / clipped.Rate * clipped.Distances[j] * clipped.Distances[j] / 2
		}
		if err != nil || features == 6 && !near(far, start, 0.1) { // directions of clipped gradients are not quite those of the loss
			t.Errorf("%d features: the start is %v above with clipping, %v without: %v", features, far, start, err)
		}
	}
}

// Clipping that is active weakens the answer, and not the weights, which are the loss's own.
func TestClippedGradientsAnswerLess(t *testing.T) {
	task := LinearTask(2000, 5)
	free, _, most := sums(task.Curvature(1e6))
	clipped, _, less := sums(task.Curvature(0.5))
	if !near(free, clipped, 1e-3) || less > most/2 {
		t.Errorf("weights %v and %v, largest answers %v and %v", free, clipped, most, less)
	}
}

// alike is linear regression whose nodes have the same inputs, and targets of their own: the records are in the order
// that they are dealt from.
func alike(nodes, records, features int) Task {
	r := rand.New(rand.NewPCG(3, 4))
	inputs := make([]float32, records*features)
	for i := range inputs {
		inputs[i] = float32(r.NormFloat64() * math.Pow(0.5, float64(i%features)))
	}
	task := Task{Name: "alike", Model: NewLinear(features), LearningRate: 0.1, Data: "alike"}
	task.Split = func(seed uint64) (train, test Dataset) {
		total := nodes * records
		train = Dataset{features, make([]float32, total*features), make([]float32, total)}
		targets := rand.New(rand.NewPCG(seed, 5))
		for i, at := range random(seed, forShards, 0).Perm(total) {
			copy(train.Slice(at, at+1).Inputs, inputs[i%records*features:])
			train.Targets[at] = float32(targets.NormFloat64())
		}
		return train, Dataset{features, inputs, make([]float32, records)}
	}
	return task
}

// Where nothing is clipped, batches are whole nodes, and nodes curve alike, the loss is above that of training without
// noise by what is predicted, within 2 % or three standard errors, for every optimizer and for correlated noise.
func TestExcessIsAsPredicted(t *testing.T) {
	const nodes, steps, seeds = 5, 16, 300
	n := network(t, graph.NetworkOptions{Source: "path:5"})
	optimizers := map[string]workload.Optimizer{
		"plain":             {},
		"nesterov, cosine":  {Momentum: 0.5, Nesterov: true, LearningRates: schedule("cosine")},
		"gradient tracking": {GradientTracking: true},
	}
	for name, optimizer := range optimizers {
		spec := workload.Spec{Optimizer: optimizer, Weights: workload.LastSteps(10)}
		c := Config{Task: alike(nodes, 20, 4), Schema: cyclic(t, steps, steps, 1), Workload: spec, Clip: 1e3, Workers: 1}
		methods := []string{None, "dp-d-sgd", Mafalda}
		by := rows(t, n, c, StudyOptions{Methods: methods, Mus: []float64{10}, Delta: 1e-6, Seeds: seeds})
		for _, method := range methods[1:] {
			e := by[Cell{Method: method, Mu: 10}].Prediction
			if e == nil || e.Predicted == nil || *e.StdErr > 0.035**e.Predicted {
				t.Fatalf("%s, %s: %+v: nothing is predicted, or little is measured", name, method, e)
			}
			if off := math.Abs(e.Measured - *e.Predicted); off > math.Max(0.02**e.Predicted, 3**e.StdErr) {
				t.Errorf("%s, %s: %v ± %v, predicted %v", name, method, e.Measured, *e.StdErr, *e.Predicted)
			}
			t.Logf("%s, %s: %.4f ± %.4f of what is predicted", name, method, e.Measured / *e.Predicted, *e.StdErr / *e.Predicted)
		}
		if best, plain := by[Cell{Method: Mafalda, Mu: 10}], by[Cell{Method: "dp-d-sgd", Mu: 10}]; *best.Prediction.Predicted >
			*plain.Prediction.Predicted {
			t.Errorf("%s: the optimum has %v, independent noise %v", name, *best.Prediction.Predicted, *plain.Prediction.Predicted)
		}
	}
}
