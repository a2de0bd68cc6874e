package results

import (
	"testing"

	"mafalda/simulate"
)

// The noise of simulate gives no less than the μ and the ε that the table shows, whichever of them was asked for.
func TestSimulatedPrivacyIsPrintedUp(t *testing.T) {
	mu, epsilon := 1.5315441175661, 5.59712
	row := simulationTable([]simulate.Row{{Method: "mafalda", Mu: &mu, Epsilon: &epsilon}}).Rows[0]
	if row[1] != "1.53155" || row[2] != "5.598" {
		t.Error(row)
	}
}
