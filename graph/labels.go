package graph

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"mafalda/internal/lists"
	"mafalda/internal/text"
)

// CheckLabel refuses labels with characters that a terminal would obey instead of showing them (escape sequences, marks
// that turn the direction of writing) or that are invisible: a label is printed, and must be what it looks like.
func CheckLabel(label string) error {
	if i := strings.IndexFunc(label, text.ControlsTerminal); i >= 0 {
		r, _ := utf8.DecodeRuneInString(label[i:])
		return fmt.Errorf("label %.60q has the control character %U", label, r)
	}
	return nil
}

// labelOrder returns the order of the labels: numerical if all are integers, else by bytes.
func labelOrder(labels []string) []int {
	values := make([]*big.Int, len(labels))
	numeric := true
	for i := 0; i < len(labels) && numeric; i++ {
		values[i], numeric = parseInteger(labels[i])
	}
	order := lists.UpTo(len(labels))
	slices.SortFunc(order, func(a, b int) int {
		if numeric {
			if c := values[a].Cmp(values[b]); c != 0 {
				return c
			}
		}
		return strings.Compare(labels[a], labels[b]) // "7" and "007" are different labels
	})
	return order
}

// parseInteger reads decimal digits, perhaps after a sign: labels may be 64-bit hashes or longer.
func parseInteger(s string) (*big.Int, bool) { return new(big.Int).SetString(s, 10) }
