package text

import (
	"slices"
	"testing"
)

func TestCells(t *testing.T) {
	var none *float64
	third := 1.0 / 3
	got := Cells("a", 3, uint64(5), third, &third, none, nil, true, 48.0)
	if want := []string{"a", "3", "5", "0.33333333333333331", "0.33333333333333331", "", "", "true", "48"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
