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
	if exact, wrong := whole(s); err != nil && wrong == nil && exact.IsUint64() {
		v, err = exact.Uint64(), nil
	}
	if err != nil {
		return errors.New("must be a whole number, zero or more, of 64 bits")
	}
	*n = SeedNumber(v)
	return nil
}

// Type is the word for the value in help texts.
func (n *SeedNumber) Type() string { return "uint" }

var errTooLarge = errors.New("is too large a number")

// ParseWhole reads a whole number such as 1000000, 1e6 or 2.5e3.
func ParseWhole(s string) (int, error) {
	v, err := whole(s)
	if err == nil && !v.IsInt64() {
		err = errTooLarge
	}
	if err != nil {
		return 0, err
	}
	return int(v.Int64()), nil
}

// whole returns a whole number that may have an exponent, exactly.
func whole(s string) (*big.Int, error) {
	_, err := strconv.ParseFloat(s, 64)
	v, is := new(big.Rat).SetString(s) // no number of a million digits
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, errTooLarge
	case err != nil || !is || !v.IsInt() || strings.Contains(s, "_"):
		return nil, errors.New("must be a whole number")
	}
	return v.Num(), nil
}
