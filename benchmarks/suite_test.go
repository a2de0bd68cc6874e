package benchmarks

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/workload"
)

func prefixCase(t *testing.T, computed *int) Case {
	s, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	return Case{Graph: "prefix", Schema: s, Gram: func(context.Context) (*mat.SymDense, error) {
		*computed++
		return workload.PrefixGram(24), nil
	}}
}

// Every strategy is measured, none beats the bound, and what cells share is computed once.
func TestMeasure(t *testing.T) {
	computed := 0
	cases := []Case{prefixCase(t, &computed)}
	m := NewMeasurer(cases, SuitePrivacies())
	byName := map[string]Row{}
	for i, cell := range Cells(cases) {
		r, err := m.Measure(context.Background(), cell)
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
	if len(byName) != len(Strategies()) || computed != 1 {
		t.Errorf("%d rows of %d Gram matrices", len(byName), computed)
	}
	// closed forms on the prefix workload, and the orders that must hold
	if r := byName["dp-d-sgd"]; r.SensSquared != 3 || r.Loss != 3*24*25/2 || r.MemoryFloats != 0 {
		t.Errorf("%+v", r)
	}
	if math.Abs(byName["d-mf"].Ratio-1) > 1e-5 || byName["banded b"].Loss < byName["banded 2b"].Loss ||
		byName["toeplitz b"].Loss > byName["bsr b"].Loss || byName["banded-inverse 4"].Loss > byName["bisr 4"].Loss {
		t.Errorf("%+v", byName)
	}
	again := NewMeasurer(cases, SuitePrivacies())
	cell := Cells(cases)[0]
	again.Know(cell, Row{Loss: byName[Dense].Loss / 2, LowerBound: 1})
	cell.Strategy = "sr"
	r, err := again.Measure(context.Background(), cell)
	if want := byName["sr"]; err != nil || r.Loss != want.Loss || r.Ratio != 2*want.Ratio || r.LowerBound != 1 {
		t.Errorf("beside a known optimum: %+v, %v", r, err)
	}
}

// Another file of the same name is another case, and so is another network of the same file.
func TestCellsOfAnotherFile(t *testing.T) {
	computed := 0
	var cases []Case
	for _, hashes := range [][2]string{{"aa", "1"}, {"bb", "1"}, {"bb", "2"}} {
		c := prefixCase(t, &computed)
		c.SHA256, c.Digest = hashes[0], hashes[1]
		cases = append(cases, c)
	}
	m := NewMeasurer(cases, SuitePrivacies())
	seen := map[Cell]bool{}
	for _, cell := range Cells(cases) {
		if seen[cell] = true; cell.Strategy != Dense {
			continue
		}
		if _, err := m.Measure(context.Background(), cell); err != nil {
			t.Error(err)
		}
	}
	if computed != 3 || len(seen) != 3*len(Strategies()) {
		t.Errorf("computed %d times, %d cells", computed, len(seen))
	}
}

func TestMeasureEnds(t *testing.T) {
	computed := 0
	cases := []Case{prefixCase(t, &computed)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, cell := range Cells(cases) {
		if _, err := NewMeasurer(cases, SuitePrivacies()).Measure(ctx, cell); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", cell.Strategy, err)
		}
	}
	if _, err := NewMeasurer(cases, SuitePrivacies()).Measure(ctx, Cell{Graph: "other"}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a cell of no case: %v", err)
	}
}
