package threat

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/strategy"
	"mafalda/study"
)

func mustStudy(t *testing.T, s Scenario, o AssessOptions) *Study {
	t.Helper()
	all, err := NewStudy(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStudyIsAssess: a cell stands for its attacker, in whatever order a coalition is named.
func TestStudyIsAssess(t *testing.T) {
	g, w := gossip(t, "florentine", graph.Uniform)
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP}, every(t, 5)}
	o := AssessOptions{Graph: g, Sigma: 2, Alpha: 2, Delta: 1e-6, Reaction: Reaction{Kind: FixedInputs}}
	all := mustStudy(t, s, o)
	c := all.Cell([]int{8, 2})
	if !reflect.DeepEqual(c, all.Cell([]int{2, 8})) ||
		!reflect.DeepEqual(c.Attacker, []string{g.Label(2), g.Label(8)}) || all.Local() != 5 {
		t.Errorf("%+v, local DP %v", c, all.Local())
	}
	got, err := all.Assess(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	s.Attacker.Nodes = []int{2, 8}
	want, err := Assess(context.Background(), s, o)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	row, err := all.Growth(context.Background(), GrowthCell{c, 3})
	if err != nil || row.Steps != 3 || *row.Neighbours <= *row.Others {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := all.Assess(context.Background(), Cell{[]string{"Borgia"}}); !errors.Is(err, ErrAttacker) {
		t.Errorf("an unknown attacker: %v", err)
	}
}

// TestStudyInputs: whatever changes a number is another study.
func TestStudyInputs(t *testing.T) {
	g, w := gossip(t, "cycle:4", graph.Uniform)
	banded := func(diagonal float64) Algorithm {
		x := eye(3)
		x.ScaleSym(diagonal, x)
		c, err := strategy.NewBanded(x, 1)
		if err != nil {
			t.Fatal(err)
		}
		return MFDSGD(c)
	}
	decor, err := DECOR(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	muffliato, err := Muffliato(2)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	good := AssessOptions{Graph: g, Sigma: 1, Alpha: 2}
	note := func(name string, a Algorithm, attacker Attacker, change func(o *AssessOptions)) {
		o := good
		change(&o)
		var in study.Inputs
		all := mustStudy(t, Scenario{w, a, attacker, every(t, 3)}, o)
		all.AddTo(&in)
		all.AddPairsTo(&in)
		text := ""
		for _, i := range in {
			text += i.Name + "=" + i.Value + "\n"
		}
		if other, there := seen[text]; there {
			t.Errorf("%s is the study of %s", name, other)
		}
		seen[text] = name
	}
	same, node := func(*AssessOptions) {}, Attacker{Trust: PNDP}
	for name, a := range map[string]Algorithm{"dp-d-sgd": DPDSGD(), "antipgd": AntiPGD(), "decor": decor,
		"muffliato": muffliato, "zip-dl": ZipDL(), "banded": banded(1), "other numbers": banded(1.5)} {
		note(name, a, node, same)
	}
	note("everybody", DPDSGD(), Attacker{}, same)
	note("sums", DPDSGD(), Attacker{Trust: PNDP, SecureSummation: true}, same)
	note("own noise", DPDSGD(), Attacker{Trust: PNDP, ForgetOwnNoise: true}, same)
	note("measure", DPDSGD(), node, func(o *AssessOptions) { o.Reaction.Kind, o.Measure = FixedInputs, Certain })
	for _, r := range []Reaction{{Kind: FixedInputs}, {Kind: Convex, X: 0.1}, {Kind: Convex, X: 0.2}, {Kind: Smooth, X: 0.1},
		{Kind: StronglyConvex, X: 0.1, Y: 0.1}, {Kind: StronglyConvex, X: 0.1}, {Kind: Lipschitz, X: 0.1}} {
		note(r.String(), DPDSGD(), node, func(o *AssessOptions) { o.Reaction = r })
	}
	note("refined", DPDSGD(), node, func(o *AssessOptions) { o.Reaction, o.Refine = Reaction{Kind: Smooth, X: 0.1}, true })
	note("attacked", DPDSGD(), node, func(o *AssessOptions) {
		o.Reaction, o.Refine, o.Worst = Reaction{Kind: Smooth, X: 0.1}, true, true
	})
	note("sigma", DPDSGD(), node, func(o *AssessOptions) { o.Sigma = 3 })
	note("alpha", DPDSGD(), node, func(o *AssessOptions) { o.Alpha = 3 })
	note("delta", DPDSGD(), node, func(o *AssessOptions) { o.Delta = 0.1 })
}

// A study of views that memory does not hold is not begun.
func TestStudyBeyondTheMemory(t *testing.T) {
	g, w := gossip(t, "cycle:4", graph.Uniform)
	s := Scenario{w, DPDSGD(), Attacker{Trust: PNDP}, every(t, 1e7)}
	o := AssessOptions{Graph: g, Sigma: 1, Alpha: 2}
	if _, err := NewStudy(context.Background(), s, o); !errors.Is(err, limits.ErrMemory) {
		t.Errorf("%v", err)
	}
}
