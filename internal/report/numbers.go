package report

import (
	"math"
	"strconv"

	"mafalda/internal/rounding"
)

const digits = 5 // that are printed

// up prints what costs or leaks, never less than it is.
func up(v float64) string { return by(rounding.UpText, v) }

// down prints a lower bound, never more than it is.
func down(v float64) string {
	if v == 0 || v-v != 0 {
		return plain(v)
	}
	return rounding.DownText(v, 9)
}

func by(text func(float64, int) string, v float64) string {
	if v == 0 || v-v != 0 {
		return plain(v)
	}
	return text(v, digits)
}

// plain prints what guarantees nothing, or what a user gave.
func plain(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// near prints what guarantees nothing to the nearest.
func near(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }

// upText is up of a number in a table's file; the text itself if it is none.
func upText(text string) string { return textBy(text, up) }

func nearText(text string) string { return textBy(text, near) }

func textBy(text string, print func(float64) string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return print(v)
}

// upOr prints a number that may not be there.
func upOr(v *float64, none string) string {
	if v == nil {
		return none
	}
	return up(*v)
}

// upBy is a number rounded up to four digits, for data; -1 stands for infinite.
func upBy(v *float64) float64 {
	if v == nil || *v-*v != 0 {
		return -1
	}
	return rounding.Up(*v, 4)
}
