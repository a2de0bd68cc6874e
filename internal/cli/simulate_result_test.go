package cli

import "testing"

// The levels of simulate: μ is printed up where it was given, and down where it was computed for an ε.
func TestPrintedLevelsAreOnTheSafeSide(t *testing.T) {
	mu := 1.5315451175661
	if s := levelText(mu, false); s != "1.53155" {
		t.Errorf("given: %s", s)
	}
	if s := levelText(mu, true); s != "1.53154" {
		t.Errorf("for an ε: %s", s)
	}
}
