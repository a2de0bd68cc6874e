package workload

import (
	"testing"

	"pgregory.net/rapid"
)

// A kernel under another workload is that workload's own, or there is none.
func TestKernelUnder(t *testing.T) {
	reused := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		steps := rapid.IntRange(1, 8).Draw(t, "T")
		one, other := drawSpec(t, steps), drawSpec(t, steps)
		if rapid.Bool().Draw(t, "plain") {
			other = one.Plain()
		}
		k, err := NewKernel(t.Context(), w, steps, Options{Spec: one})
		if err != nil {
			t.Fatal(err)
		}
		got := k.Under(other, nil)
		if got == nil {
			if k.Under(one, nil) == nil {
				t.Fatal("not its own")
			}
			return
		}
		reused++
		want, err := NewKernel(t.Context(), w, steps, Options{Spec: other})
		if err != nil {
			t.Fatal(err)
		}
		if d := maxRelativeDifference(got.Gram(), want.Gram()); d > 0 {
			t.Fatalf("Gram matrices differ by %v", d)
		}
	})
	if reused == 0 {
		t.Error("none was used again")
	}
}
