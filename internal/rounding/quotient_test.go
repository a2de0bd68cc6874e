package rounding

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestQuotientUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		a, b := r.ExpFloat64(), r.ExpFloat64()
		q := QuotientUp(a, b)
		product := new(big.Float).SetPrec(200).Mul(exactly(q), exactly(b))
		if product.Cmp(exactly(a)) < 0 || q > a/b*(1+0x1p-51) {
			t.Fatalf("%v/%v: %v", a, b, q)
		}
	}
	if q := QuotientUp(2.5, 5); q != 0.5 {
		t.Errorf("2.5/5: %v", q)
	}
	if q := QuotientUp(1e-308, 1e308); q == 0 {
		t.Error("a quotient that underflows is 0")
	}
}
