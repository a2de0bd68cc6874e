package rounding

import (
	"math"
	"strconv"
	"strings"
)

// Up returns the smallest number with at most this number of significant decimal digits that is not below v when its text
// is read back as a float64: what to print where less would claim too much. A number that has no more digits than
// that, such as one that a user typed, is returned as it is; so are 0, NaN and infinities. Beyond the largest
// float64 the result is +Inf. It panics if digits is not positive.
//
// Of the decimals that read back as v the shortest is taken. None with fewer digits reads back as v, so that the
// next decimal below it, with the digits asked for, reads back as less, and the next above as more. Printed with as
// many digits (%.12g for 12, up to 15) the result is that decimal.
func Up(v float64, digits int) float64 { return toDigits(v, digits, v > 0) }

// Down returns the largest number with at most this number of significant decimal digits that is not above v: what to
// print where more would claim too much. All else is as of Up.
func Down(v float64, digits int) float64 { return toDigits(v, digits, v < 0) }

// UpText returns the text of Up: this number of significant digits, no more than 15, and no number below v. This is how ε, μ
// and δ are printed everywhere, in tables, pages and pictures: whoever reads less than what an attacker may learn is told
// a falsehood.
func UpText(v float64, digits int) string { return strconv.FormatFloat(Up(v, digits), 'g', digits, 64) }

// DownText returns the text of Down: this number of significant digits, no more than 15, and no number above v.
func DownText(v float64, digits int) string {
	return strconv.FormatFloat(Down(v, digits), 'g', digits, 64)
}

// toDigits cuts the shortest decimal of v to a number of digits, and moves away from 0 if something was cut off.
func toDigits(v float64, digits int, away bool) float64 {
	if digits < 1 {
		panic("rounding: a decimal needs at least one digit")
	}
	if v == 0 || v-v != 0 {
		return v
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	mantissa = strings.Replace(mantissa, ".", "", 1)
	if len(mantissa) <= digits {
		return v
	}
	shift, err := strconv.Atoi(exponent)
	if err != nil {
		panic("rounding: " + err.Error()) // FormatFloat wrote it
	}
	kept := []byte(mantissa[:digits])
	if away {
		kept = increment(kept)
		shift += len(kept) - digits
	}
	decimal := string(kept) + "e" + strconv.Itoa(shift-len(kept)+1)
	r, err := strconv.ParseFloat(decimal, 64)
	if err != nil && !math.IsInf(r, 1) {
		panic("rounding: " + err.Error())
	}
	return math.Copysign(r, v)
}

// increment adds one to a number of decimal digits, which has one more if all of them are 9.
func increment(digits []byte) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	return append([]byte{'1'}, digits...)
}
