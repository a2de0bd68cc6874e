package plan

import (
	"errors"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// Every problem has the mode that it asks for; nodes that share noise may draw batches in secret as well.
func TestModeOfAProblem(t *testing.T) {
	short, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	many, err := participation.NewCyclic(strategy.LongSteps+4, 4, strategy.LongSteps/4+1)
	if err != nil {
		t.Fatal(err)
	}
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:3"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		schema  participation.Schema
		sharing *Sharing
		options Options
		want    mode
	}{
		"nothing asked for": {short, nil, Options{}, turnMode{}},
		"class":             {short, nil, Options{Class: factorize.BLT{Buffers: 2}}, turnMode{}},
		"nodes":             {short, nil, Options{PerNode: true}, splitMode{}},
		"groups":            {short, nil, Options{Groups: 2}, splitMode{}},
		"many steps":        {many, nil, Options{Class: factorize.BLT{Buffers: 2}}, longMode{}},
		"many dense steps":  {many, nil, Options{}, turnMode{}},
		"poisson":           {short, nil, Options{Sampling: participation.Poisson}, poissonMode{}},
		"bins":              {short, nil, Options{Sampling: participation.Bins}, binsMode{}},
		"secrets":           {short, &Sharing{}, Options{}, sharingMode{}},
		"both secrets":      {short, &Sharing{}, Options{Sampling: participation.Poisson}, sharingMode{}},
	} {
		j, err := newJob(Problem{Network: n, Schema: tc.schema, Sharing: tc.sharing}, tc.options)
		if j.mode != tc.want || err != nil || j.Options.Class == nil || j.Options.Tolerance == 0 || !j.hasNetwork() {
			t.Errorf("%s: %T, %v, %+v", name, j.mode, err, j.Options)
		}
	}
}

// What a mode is not for is refused before any work, and the field is named. Of several modes that are asked for,
// none is left out silently.
func TestModesRefuse(t *testing.T) {
	schema, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options Options
		field   string
		say     string
	}{
		"nodes of a class":  {Options{PerNode: true, Class: factorize.BLT{Buffers: 2}}, "Class", "not dense (Class blt) is not for PerNode"},
		"poisson and nodes": {Options{Sampling: participation.Poisson, PerNode: true}, "Groups", "not for Sampling poisson"},
		"bins of a class":   {Options{Sampling: participation.Bins, Class: factorize.Dense{}}, "Class", "not banded (Class dense) is not for Sampling bins"},
		"no groups":         {Options{Groups: -1}, "Groups", "at least 1"},
		"no sampling":       {Options{Sampling: 9}, "Sampling", "is unknown; use cyclic"},
	} {
		p := Problem{Schema: schema}
		_, err := prepare(p, tc.options)
		var a *fault.Argument
		if !errors.As(err, &a) || a.Field != tc.field || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any two modes but those that share noise and draw by Poisson sampling refuse each other.
func TestModesTogether(t *testing.T) {
	schema, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	private := &Privacy{Target: accounting.Target{Epsilon: 2, Delta: 1e-6}}
	for name, sampling := range map[string]participation.Scheme{"in turn": participation.InTurn,
		"poisson": participation.Poisson, "bins": participation.Bins} {
		for _, groups := range []int{0, 2} {
			for _, sharing := range []*Sharing{nil, {}} {
				asked := 0
				for _, is := range []bool{groups > 0, sharing != nil, sampling != participation.InTurn} {
					if is {
						asked++
					}
				}
				both := asked == 2 && sharing != nil && sampling == participation.Poisson
				_, err := prepare(Problem{Schema: schema, Sharing: sharing},
					Options{Sampling: sampling, Groups: groups, Privacy: private})
				if refused := err != nil; refused != (asked > 1 && !both) {
					t.Errorf("%s, %d groups, shared noise %v: %v", name, groups, sharing != nil, err)
				}
			}
		}
	}
}
