package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowModel is a model by its definition, in float64: the loss of one example.
type slowModel func(theta, x []float64, y float64) float64

func slowMLP(features, hidden int) slowModel {
	return func(theta, x []float64, y float64) float64 {
		out := theta[(features+2)*hidden]
		for i := range hidden {
			h := theta[features*hidden+i]
			for j := range features {
				h += x[j] * theta[j*hidden+i]
			}
			out += math.Max(h, 0) * theta[(features+1)*hidden+i]
		}
		return (out - y) * (out - y)
	}
}

func slowLinear(features, outputs int, logistic bool) slowModel {
	return func(theta, x []float64, y float64) float64 {
		var sum, of float64
		for c := range outputs {
			o := theta[outputs*features+c]
			for j := range features {
				o += x[j] * theta[c*features+j]
			}
			if !logistic {
				return (o - y) * (o - y)
			}
			sum += math.Exp(o)
			if c == int(y) {
				of = o
			}
		}
		return math.Log(sum) - of
	}
}

// slowOutputs returns a perceptron's outputs for one input.
func slowOutputs(widths []int, theta, x []float64) []float64 {
	h := x
	for l := range len(widths) - 1 {
		in, out := widths[l], widths[l+1]
		next := make([]float64, out)
		for j := range next {
			for i := range in {
				next[j] += h[i] * theta[i*out+j]
			}
			if l < len(widths)-2 {
				next[j] = math.Tanh(next[j])
			}
		}
		theta, h = theta[in*out:], next
	}
	return h
}

func slowPerceptron(widths []int) slowModel {
	return func(theta, x []float64, y float64) float64 {
		out := slowOutputs(widths, theta, x)
		var sum float64
		for _, o := range out {
			sum += math.Exp(o)
		}
		return math.Log(sum) - out[int(y)]
	}
}

// gradient is by central differences.
func (m slowModel) gradient(theta, x []float64, y float64) []float64 {
	const h = 1e-5
	g, at := make([]float64, len(theta)), slices.Clone(theta)
	for i, v := range theta {
		at[i] = v + h
		up := m(at, x, y)
		at[i] = v - h
		g[i] = (up - m(at, x, y)) / (2 * h)
		at[i] = v
	}
	return g
}

// clippedSum clips the gradient of every example, and adds.
func (m slowModel) clippedSum(theta []float64, d Dataset, clip float64) (sum []float64, clipped int) {
	sum = make([]float64, len(theta))
	for i, y := range d.Targets {
		g := m.gradient(theta, widen(d.Slice(i, i+1).Inputs), float64(y))
		var norm float64
		for _, v := range g {
			norm += v * v
		}
		norm = math.Sqrt(norm)
		factor := 1.0
		if norm > clip {
			factor = clip / norm
			clipped++
		}
		for j, v := range g {
			sum[j] += factor * v
		}
	}
	return sum, clipped
}

func (m slowModel) loss(theta []float64, d Dataset) float64 {
	var sum float64
	for i, y := range d.Targets {
		sum += m(theta, widen(d.Slice(i, i+1).Inputs), float64(y))
	}
	return sum / float64(d.Len())
}

func widen(x []float32) []float64 {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	return wide
}

// twins are a model and its definition.
type twins struct {
	fast    *Perceptron
	slow    slowModel
	classes int // 0: any targets
}

func drawTwins(t *rapid.T) twins {
	features := rapid.IntRange(1, 4).Draw(t, "features")
	switch rapid.IntRange(0, 3).Draw(t, "model") {
	case 0:
		hidden := rapid.IntRange(1, 5).Draw(t, "hidden")
		return twins{NewMLP(features, hidden), slowMLP(features, hidden), 0}
	case 1:
		return twins{NewLinear(features), slowLinear(features, 1, false), 0}
	}
	classes := rapid.IntRange(2, 4).Draw(t, "classes")
	if rapid.Bool().Draw(t, "deep") {
		widths := []int{features}
		for range rapid.IntRange(0, 3).Draw(t, "hidden layers") {
			widths = append(widths, rapid.IntRange(1, 4).Draw(t, "width"))
		}
		widths = append(widths, classes)
		return twins{NewPerceptron(widths...), slowPerceptron(widths), classes}
	}
	return twins{NewLogistic(features, classes), slowLinear(features, classes, true), classes}
}

// data draws examples.
func (m twins) data(rows int, r *rand.Rand) Dataset {
	d := Dataset{m.fast.Features(), make([]float32, rows*m.fast.Features()), make([]float32, rows)}
	for i := range d.Inputs {
		d.Inputs[i] = float32(r.NormFloat64())
	}
	for i := range d.Targets {
		d.Targets[i] = float32(r.NormFloat64())
		if m.classes > 0 {
			d.Targets[i] = float32(r.IntN(m.classes))
		}
	}
	return d
}

// nearKink reports whether some hidden unit of a perceptron is so close to zero that differences straddle the kink.
func (m twins) nearKink(theta []float32, d Dataset) bool {
	features, hidden := m.fast.Features(), m.fast.widths[1]
	for i := 0; m.fast.rectified && i < d.Len(); i++ {
		x := d.Slice(i, i+1).Inputs
		for u := range hidden {
			h := float64(theta[features*hidden+u])
			for j, v := range x {
				h += float64(v) * float64(theta[j*hidden+u])
			}
			if math.Abs(h) < 1e-3 {
				return true
			}
		}
	}
	return false
}

func TestClippedSumsAndLossesAreTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTwins(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		batch := m.data(rapid.SampledFrom([]int{1, 2, 7, chunk, chunk + 3}).Draw(t, "rows"), r)
		theta := make([]float32, m.fast.Size())
		for again := true; again; again = m.nearKink(theta, batch) { // where differences are no derivatives
			for i := range theta {
				theta[i] = float32(r.NormFloat64())
			}
		}
		clip := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log clip"))
		w := m.fast.NewWorker()
		got := make([]float32, len(theta))
		for i := range got {
			got[i] = float32(math.NaN()) // what is not written shows
		}
		clipped := w.ClippedSumTo(got, theta, batch, clip)
		want, slowClipped := m.slow.clippedSum(widen(theta), batch, clip)
		if clipped != slowClipped {
			t.Fatalf("%d gradients were clipped, must be %d", clipped, slowClipped)
		}
		tolerance := 2e-5 * (1 + clip*math.Sqrt(float64(batch.Len()))) // float32 sums of gradients of norm ≤ clip
		for i, v := range want {
			if math.Abs(float64(got[i])-v) > tolerance {
				t.Fatalf("coordinate %d is %v, must be %v", i, got[i], v)
			}
		}
		if loss, slow := w.Loss(theta, batch), m.slow.loss(widen(theta), batch); math.Abs(loss-slow) > 1e-5*(1+slow) {
			t.Fatalf("loss is %v, must be %v", loss, slow)
		}
	})
}

// Every clipped gradient alone has a norm of at most clip, and exactly that if it was clipped.
func TestClippedNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTwins(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		theta := make([]float32, m.fast.Size())
		for i := range theta {
			theta[i] = float32(3 * r.NormFloat64())
		}
		g := make([]float32, len(theta))
		clipped := m.fast.NewWorker().ClippedSumTo(g, theta, m.data(1, r), 0.7)
		norm := math.Sqrt(squaredNorm(g))
		if norm > 0.7*(1+1e-6) || clipped == 1 && norm < 0.7*(1-1e-6) {
			t.Fatalf("norm %v after clipping %d to 0.7", norm, clipped)
		}
	})
}

// What is not a number stays so, and shows.
func TestNaNIsNotHidden(t *testing.T) {
	for name, m := range map[string]*Perceptron{"mlp": NewMLP(2, 3), "linear": NewLinear(2), "logistic": NewLogistic(2, 3)} {
		for _, nan := range []float32{float32(math.NaN()), math.Float32frombits(0xffc00000)} {
			theta, g := make([]float32, m.Size()), make([]float32, m.Size())
			theta[0] = nan
			batch := Dataset{2, []float32{1, 2}, []float32{1}}
			w := m.NewWorker()
			w.ClippedSumTo(g, theta, batch, 1)
			if loss, sum := w.Loss(theta, batch), squaredNorm(g); loss == loss || sum == sum {
				t.Errorf("%s: loss %v, squared gradient %v", name, loss, sum)
			}
		}
	}
}

func TestInit(t *testing.T) {
	m := NewMLP(8, 64)
	theta := make([]float32, m.Size())
	m.Init(theta, random(1, forStart, 0))
	if len(theta) != 641 {
		t.Errorf("%d parameters", len(theta))
	}
	var first, second float64
	for i, v := range theta {
		if i < 9*64 {
			first = math.Max(first, math.Abs(float64(v)))
		} else {
			second = math.Max(second, math.Abs(float64(v)))
		}
	}
	// the largest of k uniform numbers is below 0.97 times the bound with probability 0.97^k
	if b := 1 / math.Sqrt(8); first > b || first < 0.97*b {
		t.Errorf("first layer up to %v, bound %v", first, b)
	}
	if second > 1./8 || second < 0.9/8 {
		t.Errorf("second layer up to %v, bound 1/8", second)
	}
}

func TestCheckTargets(t *testing.T) {
	good := Dataset{1, []float32{0, 0}, []float32{0, 2}}
	for name, tc := range map[string]struct {
		m    *Perceptron
		data Dataset
		ok   bool
	}{
		"classes":     {NewLogistic(1, 3), good, true},
		"too many":    {NewLogistic(1, 2), good, false},
		"fraction":    {NewLogistic(1, 3), Dataset{1, []float32{0}, []float32{0.5}}, false},
		"negative":    {NewLogistic(1, 3), Dataset{1, []float32{0}, []float32{-1}}, false},
		"values":      {NewLinear(1), Dataset{1, []float32{0}, []float32{-1.5}}, true},
		"NaN input":   {NewMLP(1, 1), Dataset{1, []float32{float32(math.NaN())}, []float32{0}}, false},
		"huge target": {NewMLP(1, 1), Dataset{1, []float32{0}, []float32{float32(math.Inf(1))}}, false},
	} {
		if err := tc.m.Check(tc.data); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A perceptron counts the answers that are right, and knows how large its layers are.
func TestPerceptronCountsRightAnswers(t *testing.T) {
	widths := []int{3, 4, 5, 3}
	model := NewPerceptron(widths...)
	r := rand.New(rand.NewPCG(3, 4))
	theta := make([]float32, model.Size())
	model.Init(theta, r)
	data := twins{fast: model, classes: 3}.data(200, r)
	want := 0
	for i, y := range data.Targets {
		out := slowOutputs(widths, widen(theta), widen(data.Slice(i, i+1).Inputs))
		if slices.Index(out, slices.Max(out)) == int(y) {
			want++
		}
	}
	worker := model.NewWorker()
	if got := worker.Correct(theta, data); got != want || want == 0 || want == 200 {
		t.Errorf("%d right, must be %d", got, want)
	}
	if model.Layers() != 3 || model.Prefix(1) != 12 || model.Prefix(3) != 47 || NewPerceptron(784, 10, 784, 10).Prefix(2) != 2*7840 {
		t.Errorf("%d layers, %d parameters in the first", model.Layers(), model.Prefix(1))
	}
	clear(theta) // all outputs the same: no answer is right
	if got := worker.Correct(theta, data); got != 0 {
		t.Errorf("%d right answers of a model that says nothing", got)
	}
}

// Logistic regression counts right answers.
func TestLogisticCountsRightAnswers(t *testing.T) {
	model := NewLogistic(2, 3)
	theta := []float32{1, 0, 0, 1, -1, -1, 0, 0, 0.5} // classes by x, by y, and by neither
	data := Dataset{2, []float32{5, 0, 5, 0, 0, 5, -5, -5, 0.25, 0.25, 0.5, 0.5}, []float32{0, 1, 1, 2, 0, 0}}
	// outputs: (5,0,-4.5) right; the same, wrong; (0,5,-4.5) right; (-5,-5,10.5) right; (0.25,0.25,0) and (0.5,0.5,-0.5): ties
	if got := model.NewWorker().Correct(theta, data); got != 3 {
		t.Errorf("%d right, must be 3", got)
	}
}
