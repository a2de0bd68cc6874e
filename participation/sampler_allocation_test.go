package participation

import (
	"errors"
	"math"
	"testing"

	"mafalda/internal/fault"
)

// Every record takes part exactly once in every block of its group, and blocks differ by one step at most.
func TestAllocationIsOnceABlock(t *testing.T) {
	for _, a := range []AllocationSampling{{1, 7}, {4, 3}, {1, 30}, {7, 2}, {30, 1}} {
		s := sampler(t, a, 200, 5)
		blocks := make([]map[int]int, 200) // of every record, how often in a block
		for i := range blocks {
			blocks[i] = map[int]int{}
		}
		sizes := map[int]bool{}
		for step := range contractSteps {
			block, place, size := a.Block(step, contractSteps)
			if sizes[size] = true; place < 0 || place >= size {
				t.Fatalf("%v: step %d is %d of %d", a, step, place, size)
			}
			for _, record := range s.Batch(step) {
				blocks[record][block]++
			}
		}
		for record, of := range blocks {
			if len(of) != a.Participations {
				t.Fatalf("%v: record %d takes part in %d blocks", a, record, len(of))
			}
			for block, times := range of {
				if times != 1 {
					t.Fatalf("%v: record %d is %d times in block %d", a, record, times, block)
				}
			}
		}
		if len(sizes) > 3 { // of groups whose numbers of steps differ, too
			t.Errorf("%v: blocks of %v steps", a, sizes)
		}
	}
}

// Steps of a block are equally likely, and independent of the steps in other blocks and of other records.
func TestAllocationIsUniform(t *testing.T) {
	const records = 30000
	a := AllocationSampling{Groups: 1, Participations: 6} // blocks of 5 steps
	s := sampler(t, a, records, 8)
	chosen := make([][2]int, records)
	counts := [2][5]float64{}
	for block := range 2 {
		for place := range 5 {
			for _, record := range s.Batch(block*5 + place) {
				chosen[record][block] = place
				counts[block][place]++
			}
		}
	}
	var joint [25]float64
	for _, c := range chosen {
		joint[c[0]*5+c[1]]++
	}
	chi := func(counts []float64) (sum float64) {
		want := records / float64(len(counts))
		for _, c := range counts {
			sum += (c - want) * (c - want) / want
		}
		return sum
	}
	if a, b, both := chi(counts[0][:]), chi(counts[1][:]), chi(joint[:]); math.Max(a, b) > 25 || both > 65 {
		t.Errorf("χ² of %v and %v with 4, and %v with 24 degrees of freedom", a, b, both)
	}
}

func TestAllocationRefuses(t *testing.T) {
	for _, a := range []AllocationSampling{{0, 1}, {31, 1}, {1, 0}, {1, 31}, {4, 8}} {
		var argument *fault.Argument
		_, err := a.Sampler(SamplerOptions{Records: 3, Steps: contractSteps, Key: SeededKey(1, "")})
		if !errors.As(err, &argument) {
			t.Errorf("%v: %v", a, err)
		}
	}
}
