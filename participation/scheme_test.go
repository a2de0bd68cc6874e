package participation

import (
	"errors"
	"testing"

	"mafalda/internal/fault"
)

// Schemes are named as the samplings that they use.
func TestSchemes(t *testing.T) {
	for _, s := range []Scheme{InTurn, Poisson, Bins, Allocation, Truncated} {
		if got, err := ParseScheme(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	var a *fault.Argument
	if _, err := ParseScheme("shuffled"); !errors.As(err, &a) || a.Field != "Sampling" {
		t.Errorf("%v", err)
	}
	if Scheme(5).Known() || Scheme(-1).Known() || Scheme(5).String() != "Scheme(5)" {
		t.Error("unknown schemes have names")
	}
}
