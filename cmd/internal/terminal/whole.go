package terminal

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// WholeNumber is a flag for an integer in decimal digits, or with an exponent: 020 is twenty, 1e6 a million, and 0x10
// no number.
type WholeNumber int

func (n *WholeNumber) String() string { return strconv.Itoa(int(*n)) }

func (n *WholeNumber) Set(s string) error {
	v, err := ParseWhole(s)
	if err != nil {
		return err
	}
	*n = WholeNumber(v)
	return nil
}

// Type is the word for the value in help texts.
func (n *WholeNumber) Type() string { return "int" }

// WholeNumbers is a flag for a list of them; the first one given replaces the default.
type WholeNumbers struct {
	List  *[]int
	given bool
}

func (n *WholeNumbers) String() string {
	if n.List == nil {
		return "[]"
	}
	return strings.ReplaceAll(fmt.Sprint(*n.List), " ", ",")
}

func (n *WholeNumbers) Set(s string) error {
	var list []int
	for word := range strings.SplitSeq(s, ",") {
		v, err := ParseWhole(word)
		if err != nil {
			return fmt.Errorf("%q %w", word, err)
		}
		list = append(list, v)
	}
	if n.given {
		list = append(*n.List, list...)
	}
	*n.List, n.given = list, true
	return nil
}

// Type is the word for the value in help texts.
func (n *WholeNumbers) Type() string { return "ints" }

// SeedNumber is a flag for a seed: a whole number of 64 bits, zero or more.
type SeedNumber uint64

func (n *SeedNumber) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *SeedNumber) Set(s string) error {
	v, err := strconv.ParseUint(s, 0, 64)
	if digits, ok := expandExponent(s); err != nil && ok {
		v, err = strconv.ParseUint(digits, 10, 64)
	}
	if err != nil {
		return errors.New("must be a whole number, zero or more, of 64 bits")
	}
	*n = SeedNumber(v)
	return nil
}

// Type is the word for the value in help texts.
func (n *SeedNumber) Type() string { return "uint" }

// ParseWhole reads a whole number such as 1000000, 1e6 or 2.5e3.
func ParseWhole(s string) (int, error) {
	if digits, ok := expandExponent(s); ok {
		s = digits
	}
	v, err := strconv.Atoi(s)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("is too large a number")
	}
	if err != nil {
		return 0, errors.New("must be a whole number")
	}
	return v, nil
}

// expandExponent writes a number with an exponent in digits, exactly; not ok if it has no exponent or is not whole.
// Numbers of more digits than an integer can have stay too large for one.
func expandExponent(s string) (digits string, ok bool) {
	mantissa, exponent, found := strings.Cut(strings.ToLower(s), "e")
	power, err := strconv.Atoi(exponent)
	if !found || err != nil && !errors.Is(err, strconv.ErrRange) || strings.Trim(mantissa, "+-.0123456789") != "" {
		return "", false
	}
	const most = 64 // digits of zeros: far beyond 64 bits
	power = max(min(power, most), -len(mantissa)-1)
	v, ok := new(big.Rat).SetString(fmt.Sprintf("%se%d", mantissa, power))
	if !ok || !v.IsInt() {
		return "", false
	}
	return v.Num().String(), true
}
