package modular

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Arithmetic agrees with whole numbers modulo the prime.
func TestArithmetic(t *testing.T) {
	prime := new(big.Int).SetUint64(Prime)
	below := rapid.Uint64Range(0, Prime-1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := below.Draw(t, "a"), below.Draw(t, "b")
		x, y := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		for name, c := range map[string]struct {
			got  uint64
			want *big.Int
		}{
			"product": {Mul(a, b), new(big.Int).Mul(x, y)}, "sum": {Add(a, b), new(big.Int).Add(x, y)},
			"negative": {Neg(a), new(big.Int).Neg(x)},
		} {
			if c.want.Mod(c.want, prime).Uint64() != c.got {
				t.Fatalf("%s of %d and %d: %d, must be %v", name, a, b, c.got, c.want)
			}
		}
		if a > 0 && Mul(a, Inverse(a)) != 1 {
			t.Fatalf("1/%d", a)
		}
		v := rapid.Float64().Draw(t, "v")
		if r := new(big.Rat).SetFloat64(v); r != nil {
			den := new(big.Int).ModInverse(r.Denom(), prime)
			want := new(big.Int).Mul(r.Num(), den)
			if want.Mod(want, prime).Uint64() != Residue(v) {
				t.Fatalf("residue of %g", v)
			}
		}
	})
}

// A row that is a combination of others leaves nothing.
func TestEchelon(t *testing.T) {
	var e Echelon
	for i, c := range []struct {
		row   []uint64
		isNew bool
	}{{[]uint64{2, 1, 0}, true}, {[]uint64{0, 3, 1}, true}, {[]uint64{2, 4, 1}, false}, {[]uint64{0, 0, 5}, true},
		{[]uint64{7, 7, 7}, false}} {
		if got := e.Add(c.row); got != c.isNew {
			t.Errorf("row %d is new: %v", i, got)
		}
	}
	e.Rows = e.Rows[:2]
	if at := e.Reduce([]uint64{2, 5, 1}); at != 2 {
		t.Errorf("by the first two rows something is left in column %d", at)
	}
}
