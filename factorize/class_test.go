package factorize

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// The classes have the names of package strategy's, in the same order, and a name leads to its class.
func TestClasses(t *testing.T) {
	var names []string
	for _, c := range Classes() {
		names = append(names, c.Name())
		again, err := ClassOf(c.Name())
		if err != nil || again != c {
			t.Errorf("%s leads to %v, %v", c.Name(), again, err)
		}
	}
	if !slices.Equal(names, strategy.Classes()) {
		t.Errorf("classes %v, strategies are of %v", names, strategy.Classes())
	}
	if c, err := ClassOf("cosine"); err == nil {
		t.Errorf("%v is of no strategy", c)
	}
	if DefaultClass(schema(t, 2, 3)) != Class(Dense{}) || DefaultClass(mustMinSep(t, 12, 3, 3)) != Class(Banded{}) {
		t.Error("other classes are the default")
	}
}

// With takes the parameters that the class has, and no others; zero is the default.
func TestClassWith(t *testing.T) {
	for _, c := range Classes() {
		has := c.Traits()
		if same, err := c.With(Parameters{}); err != nil || same != c || c.Parameters() != (Parameters{}) {
			t.Errorf("%s without parameters is %v, %v", c.Name(), same, err)
		}
		for _, p := range []struct {
			Parameters
			has bool
		}{
			{Parameters{Bandwidth: 3}, has.Bandwidth != nil},
			{Parameters{Buffers: 3}, has.Buffers != 0},
			{Parameters{ScaleColumns: true}, has.ScaleColumns},
		} {
			other, err := c.With(p.Parameters)
			if p.has && (err != nil || other == c) || !p.has && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s with %+v is %v, %v", c.Name(), p.Parameters, other, err)
			}
			if p.has && other.Parameters() != p.Parameters {
				t.Errorf("%s with %+v has %+v", c.Name(), p.Parameters, other.Parameters())
			}
		}
		if has.About == "" || !slices.Contains(has.Kinds, MeanError) {
			t.Errorf("%s: %+v", c.Name(), has)
		}
	}
}

func mustMinSep(t *testing.T, steps, k, b int) participation.Schema {
	s, err := participation.NewMinSep(steps, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestClassRefuses: bad arguments are errors that name the field.
func TestClassRefuses(t *testing.T) {
	s := schema(t, 3, 4)
	good := Mean(prefixGram(12))
	for name, tc := range map[string]struct {
		field string
		class Class
		o     Objective
		opts  Options
	}{
		"no objective":       {"Objective", Dense{}, Objective{}, Options{}},
		"no steps' errors":   {"Objective", Dense{}, Worst(nil), Options{}},
		"no responses":       {"Objective", BLT{}, Long(nil), Options{}},
		"another T":          {"Objective", Toeplitz{}, Mean(prefixGram(11)), Options{}},
		"another T of steps": {"Objective", Dense{}, Last(stepGrams{prefixGram(1)}), Options{}},
		"gap":                {"Gap", Dense{}, good, Options{Gap: -1}},
		"gap, no number":     {"Gap", Banded{}, good, Options{Gap: math.NaN()}},
		"gap below rounding": {"Gap", Banded{}, good, Options{Gap: 1e-17}},
		"iterations":         {"MaxIterations", BLT{}, good, Options{MaxIterations: -1}},
		"start":              {"Start", Dense{}, good, Options{Start: prefixGram(3)}},
		"bands":              {"Bandwidth", Banded{Bandwidth: 13}, good, Options{}},
		"coefficients":       {"Bandwidth", Toeplitz{Bandwidth: -1}, good, Options{}},
		"inverse":            {"Bandwidth", BandedInverse{Bandwidth: 13}, good, Options{}},
		"buffers":            {"Buffers", BLT{Buffers: 12}, good, Options{}},
	} {
		r, err := tc.class.Optimize(context.Background(), tc.o, s, tc.opts)
		var a *fault.Argument
		if r != nil || !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
