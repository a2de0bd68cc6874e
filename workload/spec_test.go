package workload

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/fault"
)

// drawSchedule draws a schedule for T = steps.
func drawSchedule(t *rapid.T, steps int) Schedule {
	list := rapid.SliceOfN(rapid.Float64Range(0.01, 1.5), steps, steps).Draw(t, "rates")
	names := []string{"constant", "cosine", "warmup-cosine", "warmup-cosine:0.5", "step:0.5,1", "step:0.1,2,4"}
	if i := rapid.IntRange(0, len(names)).Draw(t, "schedule"); i < len(names) {
		s, err := ParseSchedule(names[i])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return ListedRates(list)
}

func drawWeights(t *rapid.T, steps int) Weights {
	list := rapid.SliceOfN(rapid.Float64Range(0.01, 2), steps, steps).Draw(t, "weights")
	return rapid.SampledFrom([]Weights{{}, LastSteps(1), LastSteps((steps + 1) / 2), ListedWeights(list)}).Draw(t, "weights of")
}

// drawSpec draws a spec of a network that does not change, without absences.
func drawSpec(t *rapid.T, steps int) Spec {
	s := Spec{Kind: drawKind(t), Weights: drawWeights(t, steps), Optimizer: Optimizer{
		LearningRates: drawSchedule(t, steps), GossipRounds: rapid.IntRange(0, 3).Draw(t, "rounds")}}
	if rapid.Bool().Draw(t, "has momentum") {
		s.Momentum = rapid.Float64Range(0.01, 0.99).Draw(t, "momentum")
		s.Nesterov = rapid.Bool().Draw(t, "nesterov")
	}
	if rapid.Bool().Draw(t, "has decay") {
		s.WeightDecay = rapid.Float64Range(0, 0.6).Draw(t, "decay")
	}
	if rapid.Bool().Draw(t, "tracking") {
		s.GradientTracking = true
	} else {
		s.LocalSteps = rapid.IntRange(0, steps).Draw(t, "local steps")
	}
	if err := s.Check(steps); err != nil {
		t.Fatal(err)
	}
	return s
}

// drawInvariant draws a spec that is time-invariant.
func drawInvariant(t *rapid.T, steps int) Spec {
	s := drawSpec(t, steps)
	s.LearningRates, s.LocalSteps = Schedule{}, 0
	if !s.IsTimeInvariant() {
		t.Fatal("what changes?")
	}
	return s
}

func TestSpecRefuses(t *testing.T) {
	const steps = 8
	sequence := &Sequence{Networks: 1}
	for name, tc := range map[string]struct {
		spec  Spec
		field string
	}{
		"momentum of one":     {Spec{Optimizer: Optimizer{Momentum: 1}}, "Momentum"},
		"negative momentum":   {Spec{Optimizer: Optimizer{Momentum: -0.1}}, "Momentum"},
		"no number":           {Spec{Optimizer: Optimizer{Momentum: math.NaN()}}, "Momentum"},
		"nesterov alone":      {Spec{Optimizer: Optimizer{Nesterov: true}}, "Nesterov"},
		"decay of one":        {Spec{Optimizer: Optimizer{WeightDecay: 1}}, "WeightDecay"},
		"decay times rate":    {Spec{Optimizer: Optimizer{WeightDecay: 0.5, LearningRates: ListedRates([]float64{2, 1, 1, 1, 1, 1, 1, 1})}}, "WeightDecay"},
		"negative rate":       {Spec{Optimizer: Optimizer{LearningRates: ListedRates([]float64{1, 1, 1, 1, 1, 1, 1, -1})}}, "LearningRates"},
		"rates of zero":       {Spec{Optimizer: Optimizer{LearningRates: ListedRates(make([]float64, steps))}}, "LearningRates"},
		"too few rates":       {Spec{Optimizer: Optimizer{LearningRates: ListedRates(make([]float64, 3))}}, "LearningRates"},
		"no rates":            {Spec{Optimizer: Optimizer{LearningRates: ListedRates(nil)}}, "LearningRates"},
		"infinite rate":       {Spec{Optimizer: Optimizer{LearningRates: ListedRates([]float64{1, 1, 1, 1, 1, 1, 1, math.Inf(1)})}}, "LearningRates"},
		"local steps":         {Spec{Optimizer: Optimizer{LocalSteps: -1}}, "LocalSteps"},
		"no gossip":           {Spec{Optimizer: Optimizer{LocalSteps: 9}}, "LocalSteps"},
		"gossip rounds":       {Spec{Optimizer: Optimizer{GossipRounds: -2}}, "GossipRounds"},
		"tracking, local":     {Spec{Optimizer: Optimizer{GradientTracking: true, LocalSteps: 2}}, "GradientTracking"},
		"tracking, momentum":  {Spec{Optimizer: Optimizer{GradientTracking: true, Momentum: 0.5}, Changes: Changes{LinkFailures: 0.1}}, "GradientTracking"},
		"node failures":       {Spec{Changes: Changes{NodeFailures: 1}}, "NodeFailures"},
		"link failures":       {Spec{Changes: Changes{LinkFailures: -0.5}}, "LinkFailures"},
		"neighbours":          {Spec{Changes: Changes{RandomNeighbours: -1}}, "RandomNeighbours"},
		"neighbours, nodes":   {Spec{Changes: Changes{RandomNeighbours: 1, NodeFailures: 0.1}}, "RandomNeighbours"},
		"neighbours, links":   {Spec{Changes: Changes{RandomNeighbours: 1, LinkFailures: 0.1}}, "RandomNeighbours"},
		"neighbours, blocks":  {Spec{Changes: Changes{RandomNeighbours: 1, GraphSequence: sequence}}, "RandomNeighbours"},
		"empty sequence":      {Spec{Changes: Changes{GraphSequence: &Sequence{}}}, "GraphSequence"},
		"missed steps":        {Spec{Absence: Absence{MissedSteps: 1.5}}, "MissedSteps"},
		"nothing to carry":    {Spec{Absence: Absence{Carry: true}}, "Carry"},
		"centralized gossip":  {Spec{Kind: Prefix, Optimizer: Optimizer{GossipRounds: 2}}, "Workload"},
		"centralized network": {Spec{Kind: Prefix, Changes: Changes{NodeFailures: 0.1}}, "Workload"},
		"unknown kind":        {Spec{Kind: 7}, "Workload"},
		"last steps":          {Spec{Weights: LastSteps(9)}, "AverageLast"},
		"negative last steps": {Spec{Weights: LastSteps(-1)}, "AverageLast"},
		"too few weights":     {Spec{Weights: ListedWeights([]float64{1})}, "Weights"},
		"no weights":          {Spec{Weights: ListedWeights([]float64{})}, "Weights"},
		"negative weight":     {Spec{Weights: ListedWeights([]float64{1, 1, 1, 1, -1, 1, 1, 1})}, "Weights"},
		"last weight":         {Spec{Weights: ListedWeights([]float64{1, 1, 1, 1, 1, 1, 1, 0})}, "Weights"},
	} {
		err := tc.spec.Check(steps)
		var a *fault.Argument
		if !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v, must be about %s", name, err, tc.field)
		}
	}
	if err := (Spec{}).Check(0); err == nil {
		t.Error("no steps were accepted")
	}
}

func TestNetworksRefuse(t *testing.T) {
	small, err := NewSequence([]*graph.CSR{complete(2)}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, changes := range map[string]Changes{
		"sizes":      {GraphSequence: small},
		"digest":     {GraphSequence: &Sequence{Networks: 1}},
		"neighbours": {RandomNeighbours: 3},
	} {
		if _, err := (Spec{Changes: changes}).Networks(complete(3), 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewSequence(nil, ""); err == nil {
		t.Error("a sequence of nothing")
	}
	if _, err := NewSequence([]*graph.CSR{complete(2), complete(3)}, ""); err == nil {
		t.Error("a sequence of two sizes")
	}
}

// What a manifest holds is the spec, without the matrices of a sequence.
func TestSpecJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 9).Draw(t, "T")
		s := drawSpec(t, steps)
		if rapid.Bool().Draw(t, "absent") {
			s.Absence = Absence{MissedSteps: 0.25, Carry: rapid.Bool().Draw(t, "carry")}
		}
		switch rapid.IntRange(0, 3).Draw(t, "changes") {
		case 1:
			s.Changes = Changes{NodeFailures: 0.1, LinkFailures: 0.125}
		case 2:
			s.Changes = Changes{RandomNeighbours: 2}
		case 3:
			s.GraphSequence, _ = NewSequence([]*graph.CSR{complete(3), complete(3)}, "file.txt")
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Spec
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(text) || back.IsPlain() != s.IsPlain() {
			t.Fatalf("%s came back as %s, %v", text, again, err)
		}
		if q := s.GraphSequence; q != nil {
			if back.GraphSequence.Attached() {
				t.Fatal("matrices from a digest")
			}
			if whole, err := back.GraphSequence.Attach(q); err != nil || whole != q {
				t.Fatal(err)
			}
			other, _ := NewSequence([]*graph.CSR{complete(3)}, "")
			if _, err := back.GraphSequence.Attach(other); err == nil {
				t.Fatal("other matrices were attached")
			}
			return
		}
		want, _ := s.LearningRates.Rates(steps)
		if got, _ := back.LearningRates.Rates(steps); !slices.Equal(got, want) {
			t.Fatalf("rates %v came back as %v", want, got)
		}
		want, _ = s.Weights.Vector(steps)
		if got, _ := back.Weights.Vector(steps); !slices.Equal(got, want) {
			t.Fatalf("weights %v came back as %v", want, got)
		}
	})
	if text, err := json.Marshal(Spec{Optimizer: Optimizer{LocalSteps: 1, GossipRounds: 1}}); err != nil || string(text) != `{"kind":"model"}` {
		t.Errorf("the plain workload is %s, %v", text, err)
	}
	for _, bad := range []string{`{}`, `{"kind":"models"}`, `{"kind":"model","weights":"first"}`,
		`{"kind":"model","learning_rates":"sine"}`, `{"kind":"model","learning_rates":{}}`, `[]`, `{"kind":"model","impulse":0.9}`} {
		if err := json.Unmarshal([]byte(bad), new(Spec)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestSchedules(t *testing.T) {
	for text, want := range map[string][]float64{
		"constant":          {1, 1, 1, 1},
		"cosine":            {1, (1 + math.Sqrt2/2) / 2, 0.5, (1 - math.Sqrt2/2) / 2},
		"warmup-cosine":     {1, (1 + math.Sqrt2/2) / 2, 0.5, (1 - math.Sqrt2/2) / 2}, // ⌊0.4⌋ is none
		"warmup-cosine:0.5": {0.5, (1 + math.Sqrt2/2) / 2, 0.5, (1 - math.Sqrt2/2) / 2},
		"warmup-cosine:0":   {1, (1 + math.Sqrt2/2) / 2, 0.5, (1 - math.Sqrt2/2) / 2},
		"step:0.5,1,3":      {1, 0.5, 0.5, 0.25},
		"step:0.5,9":        {1, 1, 1, 1},
	} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := s.Rates(4)
		if err != nil || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
		if again, err := ParseSchedule(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%s: %v is not what it is parsed as: %v", text, s, err)
		}
	}
	if s, _ := ParseSchedule("warmup-cosine:0.29"); s.String() != "warmup-cosine:0.29" {
		t.Error(s)
	} else if rates, _ := s.Rates(100); math.Abs(rates[0]-1./29) > 1e-15 {
		t.Errorf("29 of 100 steps begin with %v", rates[0])
	}
	for _, text := range []string{"", "constant:1", "cosine:2", "warmup-cosine:2", "warmup-cosine:-1", "warmup-cosine:NaN",
		"warmup-cosine:", "step", "step:0.5", "step:-1,2", "step:0.5,0", "step:0.5,3,3", "step:0.5,x", "step:Inf,1", "linear"} {
		if _, err := ParseSchedule(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestWeights(t *testing.T) {
	for text, want := range map[string][]float64{"all": {1, 1, 1}, "last": {0, 0, 1}, "last:2": {0, 1, 1}, "last:3": {1, 1, 1}} {
		w, err := ParseWeights(text)
		if err != nil || w.String() != text {
			t.Errorf("%s is parsed as %v, %v", text, w, err)
		}
		if got, err := w.Vector(3); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "first", "last:", "last:0", "last:-1", "last:x"} {
		if _, err := ParseWeights(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
