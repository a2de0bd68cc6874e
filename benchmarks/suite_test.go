package benchmarks

import (
	"context"
	"errors"
	"math"
	"testing"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

// prefixStudy is the study of strategies for the prefix workload.
func prefixStudy(t *testing.T, levels plan.Privacies, of ...Cell) *Study {
	schema, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStudy(nil, []participation.Cyclic{schema}, graph.NetworkOptions{}, levels)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range of {
		for _, c.Strategy = range Strategies() {
			s.add(c, plan.Problem{Workload: workload.Spec{Kind: workload.Prefix}, Schema: schema})
		}
	}
	return s
}

// Every strategy is measured, none beats the bound, and what cells share is computed once.
func TestMeasure(t *testing.T) {
	m := prefixStudy(t, SuitePrivacies(), Cell{Graph: "prefix"})
	byName := map[string]Row{}
	for i, cell := range m.Cells() {
		r, err := m.Do(context.Background(), cell)
		if err != nil {
			t.Fatal(err)
		}
		byName[r.Strategy] = r
		if r.Strategy != Strategies()[i] || len(r.AtPrivacy) != 3 {
			t.Errorf("row %d: %+v", i, r)
		}
		if i < len(OfLoss()) && (r.Loss < r.LowerBound || r.Ratio < 1-1e-6 ||
			math.Abs(r.Ratio-r.Loss/byName[Dense].Loss) > 1e-12) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if len(byName) != len(Strategies()) {
		t.Errorf("%d rows", len(byName))
	}
	// closed forms on the prefix workload, and the orders that must hold
	if r := byName["dp-d-sgd"]; r.SensSquared != 3 || r.Loss != 3*24*25/2 || r.MemoryFloats != 0 {
		t.Errorf("%+v", r)
	}
	if math.Abs(byName["d-mf"].Ratio-1) > 1e-5 || byName["banded b"].Loss < byName["banded 2b"].Loss ||
		byName["toeplitz b"].Loss > byName["bsr b"].Loss || byName["banded-inverse 4"].Loss > byName["bisr 4"].Loss {
		t.Errorf("%+v", byName)
	}
	again := prefixStudy(t, SuitePrivacies(), Cell{Graph: "prefix"})
	cell := again.Cells()[0]
	again.Know(cell, Row{Loss: byName[Dense].Loss / 2, LowerBound: 1})
	cell.Strategy = "sr"
	r, err := again.Do(context.Background(), cell)
	if want := byName["sr"]; err != nil || r.Loss != want.Loss || r.Ratio != 2*want.Ratio || r.LowerBound != 1 {
		t.Errorf("beside a known optimum: %+v, %v", r, err)
	}
}

// Another file of the same name is another case, and so is another network of the same file.
func TestCellsOfAnotherFile(t *testing.T) {
	m := prefixStudy(t, SuitePrivacies(), Cell{SHA256: "aa", Digest: "1"}, Cell{SHA256: "bb", Digest: "1"}, Cell{SHA256: "bb", Digest: "2"})
	seen, computed := map[Cell]bool{}, map[*shared]bool{}
	for _, cell := range m.Cells() {
		if seen[cell] = true; cell.Strategy != Dense {
			continue
		}
		if _, err := m.Do(context.Background(), cell); err != nil {
			t.Error(err)
		}
		computed[m.at] = true
	}
	if len(computed) != 3 || len(seen) != 3*len(Strategies()) {
		t.Errorf("computed %d times, %d cells", len(computed), len(seen))
	}
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, cell := range prefixStudy(t, SuitePrivacies(), Cell{}).Cells() {
		if _, err := prefixStudy(t, SuitePrivacies(), Cell{}).Do(ctx, cell); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", cell.Strategy, err)
		}
	}
	if _, err := prefixStudy(t, SuitePrivacies()).Do(ctx, Cell{Graph: "other"}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a cell of no case: %v", err)
	}
}
