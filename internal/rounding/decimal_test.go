package rounding

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

func TestDecimals(t *testing.T) {
	const least = math.SmallestNonzeroFloat64
	for _, tc := range []struct {
		v        float64
		digits   int
		up, down float64
	}{
		{4.886554117462457, 12, 4.88655411747, 4.88655411746},
		{1e-6, 1, 1e-6, 1e-6}, // as it was typed, though the number is not that decimal
		{0.1, 12, 0.1, 0.1},
		{9.99, 2, 10, 9.9},
		{99999, 1, 1e5, 9e4},
		{0.30000000000000004, 15, 0.300000000000001, 0.3},
		{-4.886554117462457, 12, -4.88655411746, -4.88655411747},
		{-9.99, 1, -9, -10},
		{1 - 0x1p-53, 16, 0.9999999999999999, 0.9999999999999999},
		{1 - 0x1p-53, 15, 1, 0.999999999999999},
		{math.MaxFloat64, 3, math.Inf(1), 1.79e308},
		{-math.MaxFloat64, 3, -1.79e308, math.Inf(-1)},
		{math.MaxFloat64, 17, math.MaxFloat64, math.MaxFloat64},
		{least, 1, least, least},
		{123 * least, 1, 7e-322, 6e-322},
		{0x1p-1022, 2, 2.3e-308, 2.2e-308},
		{0, 3, 0, 0},
		{math.Inf(1), 3, math.Inf(1), math.Inf(1)},
		{math.Inf(-1), 3, math.Inf(-1), math.Inf(-1)},
	} {
		if up, down := Up(tc.v, tc.digits), Down(tc.v, tc.digits); up != tc.up || down != tc.down {
			t.Errorf("%v with %d digits: up %v, down %v; want %v and %v", tc.v, tc.digits, up, down, tc.up, tc.down)
		}
	}
	if !math.IsNaN(Up(math.NaN(), 3)) || !math.IsNaN(Down(math.NaN(), 3)) ||
		!math.Signbit(Up(math.Copysign(0, -1), 1)) {
		t.Error("NaN and -0 do not stay what they are")
	}
	defer func() {
		if recover() == nil {
			t.Error("no digits: no panic")
		}
	}()
	Up(1, 0)
}

func TestDecimalTexts(t *testing.T) {
	for _, tc := range []struct {
		v        float64
		digits   int
		up, down string
	}{
		{4.886554117462457, 12, "4.88655411747", "4.88655411746"},
		{0.1, 12, "0.1", "0.1"},
		{1e-6, 2, "1e-06", "1e-06"},
		{99999, 1, "1e+05", "9e+04"},
		{math.Inf(1), 3, "+Inf", "+Inf"},
	} {
		if up, down := UpText(tc.v, tc.digits), DownText(tc.v, tc.digits); up != tc.up || down != tc.down {
			t.Errorf("%v with %d digits: up %s, down %s; want %s and %s", tc.v, tc.digits, up, down, tc.up, tc.down)
		}
	}
}

// Printed privacy is never below the truth, and within a unit of the last digit that was asked for.
func TestPrintedPrivacyIsNeverBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, digits := math.Abs(anyNumber(t, "v")), rapid.IntRange(1, 15).Draw(t, "digits")
		text := UpText(v, digits)
		printed, err := strconv.ParseFloat(text, 64)
		_, last := significant(v, digits)
		unit, _ := strconv.ParseFloat(fmt.Sprintf("1e%d", last), 64)
		if text == "+Inf" && v > 8e307 {
			return // there is no number with so few digits above it
		}
		if err != nil || printed < v || printed-v > unit*(1+1e-15)+v*0x1p-52 {
			t.Fatalf("%v with %d digits is printed as %s (%v)", v, digits, text, err)
		}
	})
}

// anyNumber draws every finite float64: as bits, and as decimals of few digits, where rounding has nothing to do.
func anyNumber(t *rapid.T, name string) float64 {
	v := math.Float64frombits(rapid.Uint64().Draw(t, name))
	if rapid.Bool().Draw(t, name+" is short") {
		mantissa, exponent := rapid.IntRange(-99999, 99999).Draw(t, "mantissa"),
			rapid.IntRange(-330, 300).Draw(t, "exponent")
		v, _ = strconv.ParseFloat(fmt.Sprintf("%de%d", mantissa, exponent), 64)
	}
	if v-v != 0 {
		return 1
	}
	return v
}

// significant returns the digits of a decimal in the form of %e without trailing zeros, and the exponent of the
// last of so many.
func significant(v float64, digits int) (count, last int) {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return len(strings.Replace(mantissa, ".", "", 1)), e - digits + 1
}

// What is printed, and read again, is on its side of the number, has no more digits than asked for, is less than a
// unit of the last digit away, and stays as it is when it is rounded again.
func TestDecimalsAreOnTheirSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, digits := anyNumber(t, "v"), rapid.IntRange(1, 17).Draw(t, "digits")
		up, down := Up(v, digits), Down(v, digits)
		if down > v || up < v || Up(up, digits) != up || Down(down, digits) != down || Down(-v, digits) != -up {
			t.Fatalf("%v with %d digits lies between %v and %v", v, digits, down, up)
		}
		have, last := significant(v, digits)
		if have <= digits && (up != v || down != v) {
			t.Fatalf("%v has %d digits, and becomes %v and %v", v, digits, down, up)
		}
		unit, _ := strconv.ParseFloat(fmt.Sprintf("1e%d", last), 64)
		for _, r := range []float64{up, down} {
			if math.IsInf(r, 0) {
				continue // above the largest number there is no other
			}
			if math.Abs(r-v) > unit*(1+1e-15)+math.Abs(v)*0x1p-52 {
				t.Fatalf("%v with %d digits becomes %v, more than %v away", v, digits, r, unit)
			}
			text := strconv.FormatFloat(r, 'g', digits, 64)
			read, err := strconv.ParseFloat(text, 64)
			if digits <= 15 && (err != nil || read != r) {
				t.Fatalf("%v is printed as %s, and read as %v (%v)", r, text, read, err)
			}
		}
	})
}

func TestDecimalsAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, digits := anyNumber(t, "a"), rapid.IntRange(1, 17).Draw(t, "digits")
		b := anyNumber(t, "b")
		if rapid.Bool().Draw(t, "neighbours") {
			b = math.Nextafter(a, math.Inf(1))
		}
		if a > b {
			a, b = b, a
		}
		if Up(a, digits) > Up(b, digits) || Down(a, digits) > Down(b, digits) {
			t.Fatalf("%v < %v, but with %d digits up %v, %v and down %v, %v", a, b, digits,
				Up(a, digits), Up(b, digits), Down(a, digits), Down(b, digits))
		}
	})
}
