package dpps

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawVectors(r *rand.Rand, n, d int, scale float64) [][]float64 {
	v := make([][]float64, n)
	for i := range v {
		size := scale * math.Exp(3*r.NormFloat64())
		for range d {
			v[i] = append(v[i], size*r.NormFloat64())
		}
	}
	return v
}

// Without noise everybody gets the average; with 2^p nodes on the exponential graph in p rounds; and the scalars stay
// 1.
func TestPushSumAverages(t *testing.T) {
	s, err := Exponential(8)
	if err != nil {
		t.Fatal(err)
	}
	values := [][]float64{{1, 8}, {2, 7}, {3, 6}, {4, 5}, {5, 4}, {6, 3}, {7, 2}, {8, 1}}
	p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{1, 0.9}}, NoNoise: true,
		Plan: Plan{Source: Omniscient}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Round(nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		if y := p.Corrected(i); y[0] != 4.5 || y[1] != 4.5 || p.scalars[i] != 1 {
			t.Errorf("node %d has %v and the scalar %g", i, y, p.scalars[i])
		}
	}
	if values[0][0] != 1 {
		t.Error("the values that were passed in have changed")
	}
}

// The noise of a message has the scale γS/b in every coordinate: mean magnitude and mean square.
func TestLaplaceNoise(t *testing.T) {
	s, err := DOut(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	const d = 200_000
	r := rand.New(rand.NewPCG(7, 7))
	p, err := NewPushSum(s, [][]float64{make([]float64, d), make([]float64, d)}, Options{
		Plan: Plan{Source: Omniscient, B: 4, NoiseRate: 3}}, r)
	if err != nil {
		t.Fatal(err)
	}
	p.addNoise(8.0 / 4)
	var sum, magnitude, squares float64
	for _, x := range p.shared[0] {
		sum += x / d
		magnitude += math.Abs(x) / d
		squares += x * x / d
	}
	const scale = 3 * 8.0 / 4
	if math.Abs(sum) > 6*scale*math.Sqrt2/math.Sqrt(d) || math.Abs(magnitude-scale) > 6*scale/math.Sqrt(d) ||
		math.Abs(squares-2*scale*scale) > 6*scale*scale*math.Sqrt(20)/math.Sqrt(d) {
		t.Errorf("mean %g, mean magnitude %g, mean square %g; scale %g", sum, magnitude, squares, scale)
	}
	if math.Abs(p.noise[0]/d-magnitude) > 1e-9 {
		t.Errorf("noted a norm of %g, it is %g", p.noise[0], d*magnitude)
	}
}

func TestPushSumRefuses(t *testing.T) {
	s, err := DOut(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	good := Options{Plan: Plan{B: 1, NoiseRate: 1}, Calibration: Calibration{Constants: Constants{1, 0.5}}}
	for name, change := range map[string]func(o *Options){
		"b = 0": func(o *Options) { o.B = 0 }, "b < 0": func(o *Options) { o.B = -1 },
		"b NaN":      func(o *Options) { o.B = math.NaN() },
		"noise rate": func(o *Options) { o.NoiseRate = 0 }, "lambda": func(o *Options) { o.Calibration.Lambda = 1 },
		"C'": func(o *Options) { o.Calibration.C = math.NaN() }, "sync": func(o *Options) { o.Sync = -1 },
	} {
		o := good
		change(&o)
		if _, err := NewPushSum(s, [][]float64{{1}, {2}, {3}}, o, nil); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, values := range [][][]float64{{{1}, {2}}, {{1}, {2, 3}, {4}}, {{}, {}, {}}} {
		if _, err := NewPushSum(s, values, good, nil); !errors.Is(err, ErrNetwork) {
			t.Errorf("values %v: %v", values, err)
		}
	}
	if _, err := DOut(4, 5); !errors.Is(err, ErrNetwork) {
		t.Errorf("5-out of 4 nodes: %v", err)
	}
	if _, err := Exponential(1); !errors.Is(err, ErrNetwork) {
		t.Errorf("exp:1: %v", err)
	}
	// slow mixing is refused with a way out, instead of eating the memory
	all := mostNumbers
	defer func() { mostNumbers = all }()
	mostNumbers = 1e4
	if slow, err := DOut(20, 2); err != nil {
		t.Error(err)
	} else if _, err := slow.Calibrate(context.Background(), 0, nil); !errors.Is(err,
		ErrTooLarge) || !errors.As(err, new(*SizeError)) || !strings.Contains(err.Error(), "20 nodes that mix slowly") {
		t.Errorf("20 nodes that mix slowly: %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Calibrate(cancelled, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Sensitivity of single numbers takes no pairs.
func TestRealSensitivityOfSingleNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64(), 2, 8).Draw(t, "values")
		p := &PushSum{}
		var want float64
		for i, v := range values {
			p.shared = append(p.shared, []float64{v})
			for j := range i {
				want = math.Max(want, math.Abs(v-values[j]))
			}
		}
		if got := p.real(); got != want {
			t.Fatalf("%g, must be %g", got, want)
		}
	})
}
