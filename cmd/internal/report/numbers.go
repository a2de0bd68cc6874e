package report

import (
	"math"
	"strconv"

	"mafalda/internal/rounding"
)

// textUp prints what costs or leaks, never less than it is: five digits, or all before the point.
func textUp(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "infinite"
	case math.Abs(v) >= 1e5 && math.Abs(v) < 1e9:
		return strconv.FormatFloat(math.Ceil(v), 'f', 0, 64)
	}
	return rounding.UpText(v, 5)
}

// upExactly prints a number beside a bound that it may nearly reach.
func upExactly(v float64) string { return rounding.UpText(v, 10) }

// textDown prints a lower bound, never more than it is.
func textDown(v float64) string { return rounding.DownText(v, 10) }

// plain prints what guarantees nothing, or what a user gave.
func plain(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// textNearest prints what guarantees nothing to the nearest.
func textNearest(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// upText is up of a number in a table's file; the text itself if it is none.
func upText(text string) string { return textBy(text, textUp) }

func nearText(text string) string { return textBy(text, textNearest) }

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
	return textUp(*v)
}

// upBy is a number rounded up to four digits, for data; -1 stands for infinite.
func upBy(v *float64) float64 {
	if v == nil || *v-*v != 0 {
		return -1
	}
	return rounding.Up(*v, 4)
}

// countOf is a number of things.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
