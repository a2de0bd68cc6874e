package fault

import (
	"errors"
	"math"
	"testing"
)

func TestPositive(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		var a *Argument
		if err := Positive("Clip", v); !errors.As(err, &a) || a.Field != "Clip" {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := Positive("Clip", math.SmallestNonzeroFloat64); err != nil {
		t.Error(err)
	}
}

// Every end of an interval is inside or outside as its bracket says, and a refusal says what is allowed.
func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		interval       string
		inside         []float64
		outside        []float64
		integer, words string
	}{
		{"(0,)", []float64{1e-300, 1e300}, []float64{0, -1, math.NaN(), math.Inf(1)}, "must be positive and finite",
			"must be positive and finite"},
		{"[0,)", []float64{0, 1e300}, []float64{-1, math.NaN(), math.Inf(1)}, "must be at least 0",
			"must be at least 0 and finite"},
		{"(0,0.5]", []float64{0.1, 0.5}, []float64{-1, 0, 0.6, math.NaN()}, "must be above 0 and at most 0.5",
			"must be above 0 and at most 0.5"},
		{"[0,1)", []float64{0, 0.9}, []float64{-1, 1, math.Inf(-1)}, "must be at least 0 and below 1",
			"must be at least 0 and below 1"},
	} {
		for _, v := range tc.inside {
			if err := CheckRange("X", v, tc.interval); err != nil {
				t.Errorf("%s: %v", tc.interval, err)
			}
		}
		for _, v := range tc.outside {
			if err := CheckRange("X", v, tc.interval); err == nil {
				t.Errorf("%v is in %s", v, tc.interval)
			}
		}
		for v, want := range map[any]string{-1: tc.integer, -1.0: tc.words} {
			if err := CheckRange("X", v, tc.interval); err == nil || err.Error() != "X -1: "+want {
				t.Errorf("%s: %v", tc.interval, err)
			}
		}
	}
}

// Ranges finds the number that is wrong, in a list, too, and names its field.
func TestRanges(t *testing.T) {
	type options struct {
		Runs   int `in:"[1,)"`
		Free   float64
		Levels []float64 `in:"(0,1)"`
	}
	if err := Ranges(options{Runs: 1, Free: -1, Levels: []float64{0.5}}); err != nil {
		t.Error(err)
	}
	for field, o := range map[string]options{"Runs": {}, "Levels": {Runs: 1, Levels: []float64{0.1, 1}}} {
		var a *Argument
		if err := Ranges(o); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
