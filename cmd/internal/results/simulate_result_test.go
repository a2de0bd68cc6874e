package results

import (
	"strings"
	"testing"

	"mafalda/simulate"
)

// The noise of simulate gives no less than the μ and the ε that the table shows, whichever of them was asked for.
func TestSimulatedPrivacyIsPrintedUp(t *testing.T) {
	mu, epsilon := 1.5315441175661, 5.59712
	var out strings.Builder
	if err := simulationTable(&out, []simulate.Row{{Method: "mafalda", Mu: &mu, Epsilon: &epsilon}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1.53155") || !strings.Contains(out.String(), "5.598") {
		t.Error(out.String())
	}
}
