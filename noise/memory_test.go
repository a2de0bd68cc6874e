package noise

import (
	"math"
	"testing"

	"mafalda/participation"
	"mafalda/strategy"
)

// A strategy in memory gives the rows of its export, for the same seed and noise level.
func TestMemoryIsTheExport(t *testing.T) {
	seed := uint64(3)
	c := dense(t)
	schema, err := participation.NewCyclic(c.Steps(), 1, c.Steps())
	if err != nil {
		t.Fatal(err)
	}
	dir := exported(t, c)
	stored, err := Open(dir, "ann", 100, Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	live, err := New(c, schema, "ann", 100, Options{Seed: &seed, NoiseStd: stored.NoiseStd()})
	if err != nil {
		t.Fatal(err)
	}
	if !same(read(t, live.Next, steps), read(t, stored.Next, steps)) {
		t.Error("the rows differ")
	}
	if private, err := New(c, schema, "ann", 100, Options{NoiseStd: 2}); err != nil || !private.Private() {
		t.Errorf("New without a seed = %v, %v", private, err)
	}
}

// New rejects whatever would protect less than contribution/μ promises.
func TestMemoryIsRefused(t *testing.T) {
	c := dense(t)
	once, err := participation.NewCyclic(c.Steps(), 1, c.Steps())
	if err != nil {
		t.Fatal(err)
	}
	full, err := strategy.Normalize(c, once)
	if err != nil {
		t.Fatal(err)
	}
	short, err := participation.NewCyclic(c.Steps()-1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		c      strategy.Strategy
		schema participation.Schema
		dim    int
		opts   Options
	}{
		"a sensitivity above 1":     {full.Scaled(1.0001), once, 10, Options{NoiseStd: 1}},
		"no noise level":            {c, once, 10, Options{}},
		"a negative noise level":    {c, once, 10, Options{NoiseStd: -1}},
		"a noise level of NaN":      {c, once, 10, Options{NoiseStd: math.NaN()}},
		"another number of steps":   {c, short, 10, Options{NoiseStd: 1}},
		"no parameters":             {c, once, 0, Options{NoiseStd: 1}},
		"a grid wider than noise":   {c, once, 10, Options{NoiseStd: 1, Grid: 4}},
		"a grid of no power of two": {c, once, 10, Options{NoiseStd: 1, Grid: 0.1}},
	} {
		if s, err := New(tc.c, tc.schema, "ann", tc.dim, tc.opts); s != nil || err == nil {
			t.Errorf("%s: New = %v, %v", name, s, err)
		}
	}
}
