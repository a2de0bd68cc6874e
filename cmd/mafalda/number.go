package main

import (
	"errors"
	"strconv"
)

// wholeNumber is a flag for an integer in decimal digits: 020 is twenty, and 0x10 is no number.
type wholeNumber int

func (n *wholeNumber) String() string { return strconv.Itoa(int(*n)) }

func (n *wholeNumber) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("must be a whole number")
	}
	*n = wholeNumber(v)
	return nil
}

// Type is the word for the value in help texts.
func (n *wholeNumber) Type() string { return "int" }
