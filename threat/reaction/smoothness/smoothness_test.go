package smoothness

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/internal/fault"
	"mafalda/internal/npy"
	"mafalda/threat/reaction"
)

// loss is a training to test, and one record's gradient in it, before clipping: layers one by one.
type loss struct {
	outputs int
	delta   func(o []float64, y int) []float64
}

var losses = map[Model]loss{
	Linear:   {1, func(o []float64, y int) []float64 { return []float64{2 * (o[0] - 3*float64(y))} }},
	Logistic: {1, func(o []float64, y int) []float64 { return []float64{1/(1+math.Exp(-o[0])) - float64(y%2)} }},
	Softmax: {0, func(o []float64, y int) []float64 {
		sum, delta := 0.0, make([]float64, len(o))
		for i, v := range o {
			delta[i] = math.Exp(v - slices.Max(o))
			sum += delta[i]
		}
		for i := range delta {
			delta[i] /= sum
		}
		delta[y%len(o)]--
		return delta
	}},
}

// norm returns the Euclidean norm.
func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum = math.Hypot(sum, v)
	}
	return sum
}

// cut scales a vector to a norm of at most clip.
func cut(x []float64, clip float64) {
	if n := norm(x); clip > 0 && n > clip {
		for i := range x {
			x[i] *= clip / n
		}
	}
}

// step is the definition: θ less the rate times decay and the clipped gradients of a batch, over the divisor. Parameters
// are a row of weights an output, then the intercepts.
func step(tr Training, theta []float64, xs [][]float64, ys []int, outputs int) []float64 {
	d := len(xs[0])
	out := make([]float64, len(theta))
	for i, v := range theta {
		out[i] = v - tr.Rate*tr.Decay*v
	}
	for r, x := range xs {
		o := make([]float64, outputs)
		for c := range o {
			for j, v := range x {
				o[c] += theta[c*d+j] * v
			}
			if !tr.NoIntercept {
				o[c] += theta[outputs*d+c]
			}
		}
		delta := losses[tr.Model].delta(o, ys[r])
		g := make([]float64, len(theta))
		for c, s := range delta {
			for j, v := range x {
				g[c*d+j] = s * v
			}
			if !tr.NoIntercept {
				g[outputs*d+c] = s
			}
		}
		for i, v := range theta {
			g[i] += tr.Ridge * v
		}
		switch {
		case tr.Unclipped:
		case tr.PerLayer:
			cut(g[:outputs*d], tr.Clip)
			cut(g[outputs*d:], tr.Clip)
		default:
			cut(g, tr.Clip)
		}
		for i, v := range g {
			out[i] -= tr.Rate / cmp.Or(tr.Divisor, 1) * v
		}
	}
	return out
}

// Every step of a training is in the class that is found: tested on random records and pairs of models, near and far.
func TestStepsAreInTheirClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tight := map[reaction.Kind]float64{}
	for range 3000 {
		tr := Training{Model: []Model{Linear, Logistic, Softmax}[rng.IntN(3)], Rate: math.Exp(2*rng.NormFloat64() - 1), Batch: 1 + rng.IntN(4)}
		outputs := losses[tr.Model].outputs
		if outputs == 0 {
			outputs = 2 + rng.IntN(3)
			tr.Classes = outputs
		}
		tr.NoIntercept, tr.PerLayer = rng.IntN(3) == 0, rng.IntN(3) == 0
		if rng.IntN(2) == 0 {
			tr.Divisor = float64(tr.Batch)
		}
		if tr.Unclipped = rng.IntN(4) == 0; !tr.Unclipped {
			tr.Clip = math.Exp(1.5 * rng.NormFloat64())
		}
		if rng.IntN(4) == 0 {
			tr.Ridge = rng.Float64()
		}
		if rng.IntN(4) == 0 {
			tr.Decay = rng.Float64()
		}
		d := 1 + rng.IntN(3)
		vector := func(n int, scale float64) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = scale * rng.NormFloat64()
			}
			return x
		}
		xs, ys := make([][]float64, tr.Batch), make([]int, tr.Batch)
		for i := range xs {
			xs[i], ys[i] = vector(d, 1), rng.IntN(outputs+1)
			tr.Norms = append(tr.Norms, norm(xs[i]))
		}
		f, err := tr.Class()
		if err != nil {
			t.Fatalf("%+v: %v", tr, err)
		}
		size := outputs * d
		if !tr.NoIntercept {
			size += outputs
		}
		for range 20 {
			a := vector(size, math.Exp(rng.NormFloat64()))
			b := vector(size, math.Exp(3*rng.NormFloat64()-3))
			for i := range b {
				b[i] += a[i]
			}
			fa, fb := step(tr, a, xs, ys, outputs), step(tr, b, xs, ys, outputs)
			apart, off := make([]float64, size), make([]float64, size)
			for i := range a {
				apart[i] = a[i] - b[i]
				off[i] = fa[i] - fb[i] - f.Step.Rho*apart[i]
			}
			share := norm(off) / (f.Step.Kappa * norm(apart))
			if !(share <= 1+1e-6) && !(norm(off) <= f.Step.Kappa*norm(apart)+1e-12*norm(a)) {
				t.Fatalf("%+v is not in %+v: %v of it at %v, %v", tr, f, share, a, b)
			}
			tight[f.Row] = max(tight[f.Row], share)
		}
	}
	for _, row := range []reaction.Kind{reaction.Convex, reaction.ClippedConvex, reaction.StronglyConvex} {
		if tight[row] < 0.5 {
			t.Errorf("%s: no pair of models uses more than %.2f of the class", row, tight[row])
		}
	}
	t.Logf("largest share of the class that was used: %v", tight)
}

// The class of convex losses does not hold for a convex loss with two outputs whose gradients are clipped, and the class of
// clipped ones does: f = ½x₁² − ⟨p,x⟩ expands by 1.151.
func TestClippedConvexExpands(t *testing.T) {
	p := []float64{-math.Sqrt(3) / 2, 0.5}
	phi := func(x []float64) []float64 {
		g := []float64{x[0] - p[0], -p[1]}
		cut(g, 1)
		return []float64{x[0] - g[0], x[1] - g[1]}
	}
	a, b := []float64{1e-4, 0}, []float64{1e-4 - 0.601e-6, 0.799e-6} // the worst direction, where gradients are clipped
	fa, fb := phi(a), phi(b)
	expansion := math.Hypot(fa[0]-fb[0], fa[1]-fb[1]) / math.Hypot(a[0]-b[0], a[1]-b[1])
	found, err := Training{Model: Convex, Beta: 1, Rate: 1, Clip: 1}.Class()
	if err != nil || math.Abs(expansion-1.151) > 1e-3 || found.Row != reaction.ClippedConvex || found.Class.Lipschitz() < expansion {
		t.Errorf("expands by %v: %+v, %v", expansion, found, err)
	}
	if wrong, _ := reaction.Convex.Class(1, 0); wrong.Lipschitz() >= expansion {
		t.Errorf("the class of convex losses has %v", wrong.Lipschitz())
	}
}

func TestRows(t *testing.T) {
	for name, tc := range map[string]struct {
		training Training
		row      reaction.Kind
		x, y     float64
	}{
		"linear":             {Training{Model: Linear, Norms: []float64{2}, Rate: 0.1, Batch: 4, Clip: 1}, reaction.Convex, 0.1 * 4 * 2 * 5, 0},
		"half of a square":   {Training{Model: Linear, Norms: []float64{2}, Rate: 0.1, Batch: 4, Curvature: 1}, reaction.Convex, 0.1 * 4 * 5, 0},
		"a mean":             {Training{Model: Linear, Norms: []float64{2}, Rate: 0.1, Batch: 4, Divisor: 4}, reaction.Convex, 0.1 * 2 * 5, 0},
		"no intercept":       {Training{Model: Logistic, Norms: []float64{2}, Rate: 0.1, Batch: 4, NoIntercept: true}, reaction.Convex, 0.4, 0},
		"the largest norms":  {Training{Model: Logistic, Norms: []float64{1, 3, 2}, Rate: 1, Batch: 2}, reaction.Convex, (10 + 5) / 4., 0},
		"softmax":            {Training{Model: Softmax, Norms: []float64{1}, Rate: 0.1, Batch: 4, Clip: 1}, reaction.ClippedConvex, 0.4, 0},
		"two classes":        {Training{Model: Softmax, Classes: 2, Norms: []float64{1}, Rate: 0.1, Batch: 4, Clip: 1}, reaction.Convex, 0.4, 0},
		"nothing is clipped": {Training{Model: Softmax, Norms: []float64{1}, Rate: 0.1, Batch: 4, Clip: 2.01}, reaction.Convex, 0.4, 0},
		"per layer":          {Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1, PerLayer: true, Clip: 1}, reaction.ClippedConvex, 0.05, 0},
		"one layer":          {Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1, PerLayer: true, NoIntercept: true}, reaction.Convex, 0.025, 0},
		"ridge, clipped":     {Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1, Batch: 2, Ridge: 1, Clip: 9}, reaction.ClippedConvex, 0.3, 0},
		"ridge, unclipped":   {Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1, Batch: 2, Ridge: 1, Unclipped: true}, reaction.StronglyConvex, 0.3, 0.2},
		"smaller batches": {Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1, Batch: 2, Smallest: 1, Ridge: 1, Unclipped: true},
			reaction.StronglyConvex, 0.3, 0.1},
		"several outputs": {Training{Model: Convex, Beta: 3, Rate: 0.1, Batch: 2}, reaction.ClippedConvex, 0.6, 0},
		"not convex":      {Training{Model: Smooth, Beta: 3, Rate: 0.1, Batch: 2, PerLayer: true}, reaction.Smooth, 0.6, 0},
	} {
		f, err := tc.training.Class()
		if err != nil || f.Row != tc.row || f.X < tc.x || f.X > tc.x*(1+1e-9) || f.Y > tc.y || f.Y < tc.y*(1-1e-9) || f.Why == "" {
			t.Errorf("%s: %+v, %v; want %s, %v, %v", name, f, err, tc.row, tc.x, tc.y)
		}
	}
	f, err := Training{Model: Linear, Norms: []float64{1}, Rate: 0.1, Decay: 0.5}.Class()
	if err != nil || math.Abs(f.Step.Rho-(0.8-0.05)) > 1e-9 || f.Step.Kappa != f.Class.Kappa {
		t.Errorf("decay: %+v, %v", f, err)
	}
}

func TestWrongTrainings(t *testing.T) {
	good := Training{Model: Logistic, Norms: []float64{1}, Rate: 0.1}
	for field, change := range map[string]func(*Training){
		"Model":     func(tr *Training) { tr.Model = 9 },
		"Norms":     func(tr *Training) { tr.Norms = nil },
		"Rate":      func(tr *Training) { tr.Rate = 0 },
		"Beta":      func(tr *Training) { tr.Beta = 1 },
		"Batch":     func(tr *Training) { tr.Batch = -1 },
		"Smallest":  func(tr *Training) { tr.Smallest = 2; tr.Ridge = 1 },
		"Classes":   func(tr *Training) { tr.Classes = 3 },
		"Decay":     func(tr *Training) { tr.Decay = math.NaN() },
		"Divisor":   func(tr *Training) { tr.Divisor = -1 },
		"Clip":      func(tr *Training) { tr.Clip = math.Inf(1) },
		"Curvature": func(tr *Training) { tr.Curvature = -1 },
		"Ridge":     func(tr *Training) { tr.Ridge = -1 },
	} {
		tr := good
		change(&tr)
		_, err := tr.Class()
		var wrong *fault.Argument
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for name, tr := range map[string]Training{"too large": {Model: Linear, Norms: []float64{1e200}, Rate: 0.1},
		"infinite": {Model: Linear, Norms: []float64{math.Inf(1)}, Rate: 0.1}, "smooth of norms": {Model: Smooth, Norms: []float64{1}, Beta: 1, Rate: 1},
		"no beta": {Model: Convex, Rate: 1}, "one class": {Model: Softmax, Classes: 1, Norms: []float64{1}, Rate: 1}} {
		var wrong *fault.Argument
		if f, err := tr.Class(); !errors.As(err, &wrong) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if _, err := ParseModel("cnn"); err == nil {
		t.Error("a model of no name")
	}
	for _, name := range Models() {
		if m, err := ParseModel(name); err != nil || m.String() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

func TestReadNorms(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := os.Create(filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.Write(f, []int{2, 3}, []float64{3, 4, 100, 0, 1, 100}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, tc := range map[string]struct {
		path   string
		target int
	}{
		"csv":       {write("a.csv", "a,b,y\n3,4,100\n\n0,1,100\n"), 3},
		"from end":  {write("b.txt", "3 4 100\r\n0 1 100"), -1},
		"no target": {write("c.csv", "3;4\n0;1\n"), 0},
		"npy":       {f.Name(), -1},
	} {
		norms, err := ReadNorms(tc.path, tc.target)
		if err != nil || len(norms) != 2 || norms[0] < 5 || norms[0] > 5*(1+1e-12) || norms[1] < 1 || norms[1] > 1+1e-12 {
			t.Errorf("%s: %v, %v", name, norms, err)
		}
	}
	for name, tc := range map[string]struct {
		path   string
		target int
		say    string
	}{
		"a word":       {write("d.csv", "1,2\n1,x\n"), 0, ":2: not rows of numbers: \"x\""},
		"short":        {write("e.csv", "1,2\n1\n"), 0, ":2: not rows of numbers: 1 numbers, not 2"},
		"nan":          {write("f.csv", "1,nan\n"), 0, "number 2 is NaN"},
		"empty":        {write("g.csv", ""), 0, "it is empty"},
		"no column":    {write("h.csv", "1,2\n"), 3, "no column 3 of 2"},
		"no column, 2": {write("i.csv", "1,2\n"), -3, "no column -3 of 2"},
		"no file":      {filepath.Join(dir, "none"), 0, "no such file"},
	} {
		if norms, err := ReadNorms(tc.path, tc.target); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, %v", name, norms, err)
		}
	}
}
