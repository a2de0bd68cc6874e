package measure

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	_ "mafalda/internal/seeded"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// definition is the excess risk of a training by hand: every node's model along every direction is a number for what it
// has without noise, and one for each independent draw Z of every node and step; the latter's squares are the covariance.
func definition(t Training, w *graph.CSR, noising *mat.TriDense, noiseStd float64) (e Excess) {
	rates, err := t.Workload.LearningRates.Rates(t.Steps)
	if err != nil {
		panic(err)
	}
	weights, err := t.Objective.weights(t.Workload, t.Steps)
	if err != nil {
		panic(err)
	}
	n, columns := t.Nodes, 1+t.Nodes*t.Steps
	var counted float64
	for _, weight := range weights {
		counted += weight
	}
	for j, x := range t.X {
		lambda, optimum := x/t.Rate, t.Distances[j]
		model, momentum := mat.NewDense(n, columns, nil), mat.NewDense(n, columns, nil)
		tracker, before := mat.NewDense(n, columns, nil), mat.NewDense(n, columns, nil)
		gossip := func(m *mat.Dense) {
			for range max(1, t.Workload.GossipRounds) {
				m.Mul(w.ToDense(), mat.DenseCopyOf(m))
			}
		}
		for s := range t.Steps {
			gradient := mat.NewDense(n, columns, nil)
			gradient.Scale(lambda, model)
			for i := range n {
				gradient.Set(i, 0, gradient.At(i, 0)-lambda*optimum)
				for r := range s + 1 {
					at := 1 + i*t.Steps + r
					gradient.Set(i, at, gradient.At(i, at)+noiseStd*noising.At(s, r))
				}
			}
			direction := mat.DenseCopyOf(gradient)
			if t.Workload.GradientTracking {
				gossip(model)
				gossip(tracker)
				// The gradient is that of the model before gossip, as State takes it.
				tracker.Add(tracker, gradient)
				tracker.Sub(tracker, before)
				before.Copy(gradient)
				direction.Copy(tracker)
			}
			if beta := t.Workload.Momentum; beta > 0 {
				momentum.Scale(beta, momentum)
				momentum.Add(momentum, direction)
				if t.Workload.Nesterov {
					ahead := mat.DenseCopyOf(momentum)
					ahead.Scale(beta, ahead)
					direction.Add(direction, ahead)
				} else {
					direction.Copy(momentum)
				}
			}
			// x = ηλ is what the training has at its base rate, which rates and decay multiply.
			model.Scale(1-rates[s]*t.Workload.WeightDecay, model)
			direction.Scale(t.Rate*rates[s], direction)
			model.Sub(model, direction)
			local := max(1, t.Workload.LocalSteps)
			gossips := !t.Workload.GradientTracking && (s+1)%local == 0
			if gossips && t.Workload.Kind == workload.Model {
				gossip(model)
			}
			for i := range n {
				scale := weights[s] / counted / float64(n) * t.Directions[j] * lambda / 2
				e.Bias += scale * math.Pow(model.At(i, 0)-optimum, 2)
				for c := 1; c < columns; c++ {
					e.Noise += scale * math.Pow(model.At(i, c), 2)
				}
			}
			if gossips && t.Workload.Kind == workload.Message {
				gossip(model)
			}
		}
	}
	return e
}

func TestPredictionIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{
			Source: rapid.SampledFrom([]string{"path:4", "cycle:3", "complete:2", "star:5"}).Draw(t, "graph")})
		if err != nil {
			t.Fatal(err)
		}
		steps := rapid.IntRange(1, 7).Draw(t, "T")
		positive := rapid.Float64Range(0.1, 2)
		some := func(of *rapid.Generator[float64], count int, name string) []float64 {
			return rapid.SliceOfN(of, count, count).Draw(t, name)
		}
		directions := rapid.IntRange(1, 3).Draw(t, "directions")
		of := Training{Nodes: n.Graph.Nodes(), Steps: steps, Rate: positive.Draw(t, "rate"),
			Objective: rapid.SampledFrom([]Objective{Mean, Last}).Draw(t, "objective"),
			X:         some(rapid.Float64Range(0.01, 0.2), directions, "x"), Directions: some(positive, directions, "directions of x"),
			Distances: some(positive, directions, "distances")}
		s := &of.Workload
		s.Kind = rapid.SampledFrom([]workload.Kind{workload.Model, workload.Message}).Draw(t, "kind")
		s.WeightDecay = rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "decay")
		s.GossipRounds = rapid.IntRange(1, 2).Draw(t, "rounds")
		if rapid.Bool().Draw(t, "has rates") {
			s.LearningRates = workload.ListedRates(some(positive, steps, "rates"))
		}
		if rapid.Bool().Draw(t, "has momentum") {
			s.Momentum, s.Nesterov = 0.7, rapid.Bool().Draw(t, "nesterov")
		}
		if s.GradientTracking = rapid.Bool().Draw(t, "tracking"); !s.GradientTracking {
			s.LocalSteps = rapid.IntRange(1, min(3, steps)).Draw(t, "local steps")
		}
		if of.Objective == Mean && rapid.Bool().Draw(t, "weights") {
			s.Weights = workload.ListedWeights(some(positive, steps, "weights of steps"))
		}
		lower := mat.NewTriDense(steps, mat.Lower, nil)
		for i := range steps {
			for j := range i + 1 {
				lower.SetTri(i, j, rapid.Float64Range(-1, 1).Draw(t, "entry"))
			}
			lower.SetTri(i, i, positive.Draw(t, "diagonal"))
		}
		c, err := strategy.NewDense(lower)
		if err != nil {
			t.Fatal(err)
		}
		k, err := workload.NewKernel(t.Context(), n.Gossip.Matrix(), steps, workload.Options{Spec: *s, Curvature: of.Curvature()})
		var refused *fault.Argument
		if errors.As(err, &refused) && refused.Field == "Curvature" {
			return // errors grow
		}
		if err != nil {
			t.Fatal(err)
		}
		cyclic, err := participation.NewCyclic(steps, 1, steps)
		if err != nil {
			t.Fatal(err)
		}
		objective := of.Objective.ForKernel(k)
		if of.Objective == Last && !k.HasSteps() {
			return
		}
		q, err := factorize.Evaluate(c, objective, cyclic)
		if err != nil {
			t.Fatal(err)
		}
		noiseStd := positive.Draw(t, "noise")
		got, err := of.Predict(noiseStd, q.SquaredError)
		if err != nil {
			t.Fatal(err)
		}
		var noising mat.TriDense
		if err := c.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		want := definition(of, n.Gossip.Matrix(), &noising, noiseStd)
		if math.Abs(got.Bias-want.Bias) > 1e-9*want.Bias || math.Abs(got.Noise-want.Noise) > 1e-8*want.Noise {
			t.Fatalf("predicted %+v, by definition %+v", got, want)
		}
		other := of.At(of.Rate / 3).At(of.Rate)
		again, err := other.Predict(noiseStd, q.SquaredError)
		if err != nil || math.Abs(again.Total()-got.Total()) > 1e-12*got.Total() {
			t.Fatalf("after a change of the rate and back %+v, not %+v (%v)", again, got, err)
		}
	})
}

func TestPredictionsAreRefused(t *testing.T) {
	of := Training{Nodes: 1, Steps: 3, Rate: 1, X: []float64{0.1}, Directions: []float64{4}}.Evenly(2)
	if of.Distances[0] != 1 {
		t.Errorf("the distance 2 in 4 directions is %v along one of them", of.Distances[0])
	}
	for field, change := range map[string]func(*Training){
		"Objective":   func(t *Training) { t.Objective = Worst },
		"MissedSteps": func(t *Training) { t.Workload.MissedSteps = 0.1 },
		"Momentum":    func(t *Training) { t.Workload.Momentum = 1 },
	} {
		other := of
		change(&other)
		var refused *fault.Argument
		if _, err := other.Predict(1, 1); !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
