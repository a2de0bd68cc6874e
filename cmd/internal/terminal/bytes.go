package terminal

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"mafalda/internal/limits"
)

// CheckMemory refuses, before anything is allocated, work that needs more memory than the machine has, or its
// container or GOMEMLIMIT allow.
func CheckMemory(what string, need float64) error { return Usage(limits.Fits(what, need)) }

// BytesText returns a number of bytes in a short form.
func BytesText(b float64) string { return limits.Text(b) }

// ByteSize is a flag for an amount of memory: a number of bytes, or of one of the units of byteUnit.
type ByteSize float64

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return BytesText(float64(*b))
}

func (b *ByteSize) Set(s string) error {
	digits := strings.TrimRight(s, "BbKkMmGgTtPpIi ")
	unit, known := byteUnit(strings.ToLower(strings.TrimSpace(s[len(digits):])))
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !known || err != nil || !(v >= 0) || math.IsInf(v*unit, 1) || strings.ContainsAny(digits, "xX_") {
		return errors.New("must be an amount of memory, such as 4GB, 512MiB or 2e9")
	}
	*b = ByteSize(v * unit)
	return nil
}

// Type is the word for the value in help texts.
func (b *ByteSize) Type() string { return "bytes" }

// byteUnit returns how many bytes a unit has: MB is 10⁶, MiB is 2²⁰.
func byteUnit(unit string) (bytes float64, known bool) {
	letter, binary := strings.CutSuffix(strings.TrimSuffix(unit, "b"), "i")
	power, known := map[string]float64{"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}[letter]
	if binary {
		return math.Pow(1024, power), known
	}
	return math.Pow(1000, power), known
}

// Grouped prints a whole number with commas between thousands.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	digits := strings.TrimPrefix(s, "-")
	return s[:len(s)-len(digits)] + thousands(digits)
}

// thousands puts commas between groups of three digits.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
