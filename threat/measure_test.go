package threat

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/participation"
)

// TestBoundsAreOrdered: lower ≤ exact ≤ abs and spectral; best is the smallest proven one and never above local DP.
func TestBoundsAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := 2 * rapid.IntRange(1, 4).Draw(t, "T/2")
		var s participation.Schema
		var err error
		if rapid.Bool().Draw(t, "min-sep") {
			s, err = participation.NewMinSep(steps, 2, steps/2)
		} else {
			s, err = participation.NewCyclic(steps, rapid.SampledFrom([]int{1, 2, steps}).Draw(t, "k"), 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		a := DPDSGD()
		if rapid.Bool().Draw(t, "antipgd") {
			a = AntiPGD()
		}
		local, err := a.Local(s)
		if err != nil {
			t.Fatal(err)
		}
		found, err := account(t, w, a, Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")}}, steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			value := map[Measure]float64{}
			for m := Best; m <= Certain; m++ {
				if value[m], err = m.Squared(e, s, local); err != nil {
					t.Fatal(err)
				}
			}
			const slack = 1 + 2e-6
			if value[Certain] > value[Exact]*slack || value[Exact] > value[Absolute]*slack || value[Exact] > value[Spectral]*slack ||
				value[Best] > local || value[Best] > value[Exact]*(1+2e-4) || value[Certain] > local*slack {
				t.Fatalf("%v: %v, local %v", s, value, local)
			}
		}
	})
}

// TestLocalOfIndependentNoise is k, whatever the schema; without own noise it is infinite.
func TestLocalOfIndependentNoise(t *testing.T) {
	s, err := participation.NewMinSep(10, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	if local, err := DPDSGD().Local(s); err != nil || math.Abs(local-3) > 1e-12 {
		t.Errorf("DP-D-SGD: %v, %v", local, err)
	}
	decor, err := DECOR(2, 5)
	if err != nil {
		t.Fatal(err)
	}
	if local, err := decor.Local(s); err != nil || math.Abs(local-0.75) > 1e-12 {
		t.Errorf("DECOR: %v, %v", local, err)
	}
	if local, err := ZipDL().Local(s); err != nil || !math.IsInf(local, 1) {
		t.Errorf("Zip-DL: %v, %v", local, err)
	}
	if v, err := Best.Squared(Exposure{Infinite: true}, s, 3); err != nil || !math.IsInf(v, 1) {
		t.Errorf("an attacker's own gradients: %v, %v", v, err)
	}
	if v, err := Absolute.Squared(Exposure{M: mat.NewSymDense(10, nil)}, s, 3); err != nil || v != 0 {
		t.Errorf("nothing seen: %v, %v", v, err)
	}
}
