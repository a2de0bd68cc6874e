package terminal

import (
	"math"
	"strconv"
	"strings"

	"mafalda/internal/rounding"
)

// How numbers are printed for people. Readers take a number for what it says, so none may claim more than
// was computed:
//
//   - up: what an attacker learns (ε, δ, Renyi divergence, μ that noise gives, leakage), sensitivities, noise (standard
//     deviation and multiplier), costs (loss, squared error, RMSE), gaps, errors of estimates, upper confidence limits;
//   - down: lower bounds, lower confidence limits, and the μ that "mafalda epsilon" computes for an (ε, δ), which is a
//     target to calibrate for;
//   - to the nearest: what guarantees nothing, such as ratios that compare, measured errors and accuracies, times,
//     statistics of graphs;
//   - as they are: numbers that a user gave.
//
// JSON and CSV have all digits.

// NumberUp prints a number like number, not below v.
func NumberUp(v float64) string { return numberBy(v, rounding.Up) }

// Number prints up to eight significant digits, without an exponent where that is short.
func Number(v float64) string { return numberBy(v, func(v float64, _ int) float64 { return v }) }

func numberBy(v float64, round func(v float64, digits int) float64) string {
	e := exponentOf(v)
	if v-v != 0 || e >= 9 || e < -3 {
		return strconv.FormatFloat(round(v, 7), 'e', 6, 64)
	}
	places := min(max(6-e, 0), 6)
	s := strconv.FormatFloat(round(v, e+1+places), 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// exponentOf returns the exponent of ten of the first significant digit of v; 0 for 0, NaN and infinities.
func exponentOf(v float64) int {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return 0 // of NaN and infinities
	}
	return e
}

// DecimalUp prints v with up to digits significant digits, at most 15, and no number below it.
func DecimalUp(v float64, digits int) string { return rounding.UpText(v, digits) }

// DecimalDown prints v with up to digits significant digits, at most 15, and no number above it.
func DecimalDown(v float64, digits int) string { return rounding.DownText(v, digits) }

// AsGiven prints a number as the user wrote it, but for its form.
func AsGiven(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
