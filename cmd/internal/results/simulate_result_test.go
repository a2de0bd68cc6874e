package results

import (
	"strings"
	"testing"

	"mafalda/cmd/internal/document"
	"mafalda/simulate"
)

// The noise of simulate gives no less than the μ and the ε that the table shows, whichever of them was asked for.
func TestSimulatedPrivacyIsPrintedUp(t *testing.T) {
	mu, epsilon := 1.5315441175661, 5.59712
	var text strings.Builder
	table := document.Kinds()["simulation"].Template().Lookup("losses")
	err := table.Execute(&text, Simulation{Rows: []simulate.Row{{Method: "mafalda", Mu: &mu, Epsilon: &epsilon}}})
	if err != nil || !strings.Contains(text.String(), "1.53155") || !strings.Contains(text.String(), "5.598") {
		t.Error(text.String(), err)
	}
}
