package dpps

import (
	"errors"
	"math"
	"testing"

	"mafalda/internal/fault"
	"mafalda/protocols/averaging"
)

func problemOn(t *testing.T, spec string) Problem {
	t.Helper()
	s, _, err := ByName(spec)
	if err != nil {
		t.Fatal(err)
	}
	return Problem{Plan: Plan{B: 50, NoiseRate: 1, Sync: 5}, Sequence: s, Name: spec,
		Values: averaging.DrawValues(s.Nodes(), 10, 0), Rounds: 12, Delta: 1e-6}
}

func TestAverage(t *testing.T) {
	for _, spec := range []string{"exp:10", "d-out:10,2"} {
		r, err := Average(t.Context(), problemOn(t, spec))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rounds) != 12 || len(r.Errors) != 13 || r.C < 1 || !*r.Sound || r.Epsilon != 50 ||
			math.Abs(r.Basic-600) > 1e-9 || r.Composed || r.Estimate != "sound" {
			t.Errorf("%s: %+v", spec, r)
		}
		for i, round := range r.Rounds {
			if round.Estimated < round.Real {
				t.Errorf("%s, round %d: %+v", spec, i, round)
			}
		}
	}
}

// Given constants: sound ones pass; the paper's are refused when they fail, and a warning comes first.
func TestAverageWithGivenConstants(t *testing.T) {
	warned := 0
	p := problemOn(t, "exp:8")
	p.Source, p.Constants = Given, Constants{5, 0.9}
	p.Unsound = func(Constants) { warned++ }
	if r, err := Average(t.Context(), p); err != nil || !*r.Sound || warned != 0 {
		t.Errorf("%+v, %v, %d warnings", r, err, warned)
	}
	p = problemOn(t, "d-out:2,2")
	p.Source, p.Values = Paper, []float64{1, -1}
	p.Unsound = func(Constants) { warned++ }
	if _, err := Average(t.Context(), p); !errors.Is(err, ErrSensitivity) || warned != 1 {
		t.Errorf("%v, %d warnings", err, warned)
	}
	p.Source = Omniscient
	if r, err := Average(t.Context(), p); err != nil || r.Sound != nil || r.MostRatio != 1 || r.Estimate != "real" ||
		warned != 1 {
		t.Errorf("the real sensitivity: %+v, %v", r, err)
	}
}

// Under much less noise the nodes agree without synchronizing.
func TestAverageAgrees(t *testing.T) {
	p := problemOn(t, "exp:8")
	p.B, p.Sync, p.Rounds = 1e6, 0, 40
	if r, err := Average(t.Context(), p); err != nil || r.Errors[40] > 1e-2*r.Errors[0] {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAverageRefuses(t *testing.T) {
	for field, change := range map[string]func(p *Problem){
		"B": func(p *Problem) { p.B = 0 }, "NoiseRate": func(p *Problem) { p.NoiseRate = math.NaN() },
		"Sync": func(p *Problem) { p.Sync = -1 }, "Rounds": func(p *Problem) { p.Rounds = 1e12 },
		"Constants.Lambda": func(p *Problem) { p.Source, p.Constants = Given, Constants{1, 1} },
		"Source":           func(p *Problem) { p.Source = -1 },
		" B":               func(p *Problem) { p.B, p.NoiseRate = 1e200, 1e-200 },
	} {
		p := problemOn(t, "exp:4")
		change(&p)
		var a *fault.Argument
		if _, err := Average(t.Context(), p); !errors.As(err, &a) || a.Field != field && " "+a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	p := problemOn(t, "exp:4")
	p.Values = p.Values[1:]
	if _, err := Average(t.Context(), p); !errors.Is(err, ErrNetwork) {
		t.Errorf("three values for four nodes: %v", err)
	}
	p = problemOn(t, "exp:4")
	p.Delta = 2
	if _, err := Average(t.Context(), p); err == nil {
		t.Error("a delta of 2")
	}
}

func TestParseSource(t *testing.T) {
	for i, name := range Sources() {
		if s, err := ParseSource(name); err != nil || s != Source(i) || s.String() != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := ParseSource("given"); err == nil {
		t.Error("given")
	}
}
