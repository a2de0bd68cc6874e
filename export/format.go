package export

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/enum"
	"mafalda/strategy"
)

// Format says in which files matrices are written.
type Format int

const (
	// FormatNPY is C.npy and C_inv.npy.
	FormatNPY Format = iota
	// FormatCSV is C.csv and C_inv.csv.
	FormatCSV
	// FormatBoth is all four of them.
	FormatBoth
)

var formats = enum.Of[Format]("format", "npy", "csv", "both")

// Formats returns the names that ParseFormat accepts.
func Formats() []string { return formats.All() }

// String returns "npy", "csv" or "both".
func (f Format) String() string { return formats.Name(f) }

// ParseFormat returns the format of this name. The error is a fault.Argument about Format.
func ParseFormat(name string) (Format, error) { return formats.ParseField("Format", name) }

// Matrices returns the files of a strategy C and of its inverse. It fails if C cannot be inverted.
func Matrices(s strategy.Strategy, f Format) ([]File, error) {
	var c, inverse mat.TriDense
	s.StrategyTo(&c)
	if err := s.NoisingTo(&inverse); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	var all []File
	if f != FormatCSV {
		all = append(all, NPY("C.npy", &c), NPY("C_inv.npy", &inverse))
	}
	if f != FormatNPY {
		all = append(all, CSV("C.csv", &c), CSV("C_inv.csv", &inverse))
	}
	return all, nil
}

// Layers returns the files of several strategies of as many steps, one array each.
func Layers(strategies []strategy.Strategy) []File {
	steps := strategies[0].Steps()
	return []File{
		NPYStack("C.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var c mat.TriDense
			strategies[i].StrategyTo(&c)
			return &c, nil
		}),
		NPYStack("C_inv.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var inverse mat.TriDense
			err := strategies[i].NoisingTo(&inverse)
			return &inverse, err
		}),
	}
}
