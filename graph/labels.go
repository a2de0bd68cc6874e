package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mafalda/internal/text"
)

// CheckLabel refuses labels with characters that a terminal would obey instead of showing them (escape sequences, marks
// that turn the direction of writing) or that are invisible: a label is printed, and must be what it looks like.
func CheckLabel(label string) error {
	for i := range len(label) {
		if c := label[i]; c < ' ' || c >= 0x7f {
			return checkRunes(label)
		}
	}
	return nil
}

func checkRunes(label string) error {
	for _, r := range label {
		if text.ControlsTerminal(r) {
			return fmt.Errorf("label %.60q has the control character %U", label, r)
		}
	}
	return nil
}

// labelOrder returns the order of the labels: numerical if all are integers, else by bytes.
func labelOrder(labels []string) []int {
	order := make([]int, len(labels))
	values := make([]integer, len(labels))
	numeric := true
	for i, l := range labels {
		order[i] = i
		v, ok := parseInteger(l)
		values[i] = v
		numeric = numeric && ok
	}
	slices.SortFunc(order, func(a, b int) int {
		if numeric {
			if c := values[a].compare(values[b]); c != 0 {
				return c
			}
		}
		return strings.Compare(labels[a], labels[b]) // "7" and "007" are different labels
	})
	return order
}

// integer is a whole number of any length: labels may be 64-bit hashes or longer.
type integer struct {
	digits   string // digits without leading zeros, "" for zero
	negative bool
}

// parseInteger reads decimal digits, perhaps after a sign.
func parseInteger(s string) (integer, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return integer{}, false
	}
	digits = strings.TrimLeft(digits, "0")
	return integer{digits, s[0] == '-' && digits != ""}, true
}

// compare returns a negative number, zero or a positive one, as a is less than, equal to or greater than b.
func (a integer) compare(b integer) int {
	switch c := cmp.Or(len(a.digits)-len(b.digits), strings.Compare(a.digits, b.digits)); {
	case a.negative && b.negative:
		return -c
	case a.negative:
		return -1
	case b.negative:
		return 1
	default:
		return c
	}
}
