package protocols

import (
	"math"
	"math/bits"
)

// prime is 2⁶¹-1. Ranks of rational matrices are counted modulo it: such a rank is never too large, and it is too small only if the
// prime divides a minor that is not zero, which for numbers that have nothing to do with it has a chance of some 2⁻⁵⁰.
const prime = 1<<61 - 1

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	x := lo&prime + (lo>>61 | hi<<3)
	if x >= prime {
		x -= prime
	}
	return x
}

func addMod(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

func negMod(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	return prime - a
}

// inverse returns 1/a by Fermat's little theorem.
func inverse(a uint64) uint64 {
	result := uint64(1)
	for e := uint64(prime - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			result = mulMod(result, a)
		}
		a = mulMod(a, a)
	}
	return result
}

// residue returns a finite floating-point number, which is a whole number times a power of two, modulo the prime: 2⁶¹ is 1.
func residue(v float64) uint64 {
	fraction, exponent := math.Frexp(math.Abs(v))
	whole := uint64(math.Ldexp(fraction, 53))
	exponent = ((exponent-53)%61 + 61) % 61
	x := mulMod(whole, 1<<exponent)
	if v < 0 {
		x = negMod(x)
	}
	return x
}

// echelon is a row echelon form that grows row by row.
type echelon struct {
	rows   [][]uint64 // rows[i] has its first nonzero entry, a 1, in column pivots[i]
	pivots []int
}

// reduce takes multiples of the first rows out of x, which it changes, and returns the column of what is left first, -1 if nothing is.
func (e *echelon) reduce(x []uint64, rows int) int {
	for i, r := range e.rows[:rows] {
		at := e.pivots[i]
		minus := negMod(x[at])
		if minus == 0 {
			continue
		}
		for j, v := range r[at:] {
			if v != 0 {
				x[at+j] = addMod(x[at+j], mulMod(minus, v))
			}
		}
	}
	for at, c := range x {
		if c != 0 {
			return at
		}
	}
	return -1
}

// add reduces a row, which it keeps, by the others and reports whether something is left.
func (e *echelon) add(row []uint64) bool {
	at := e.reduce(row, len(e.rows))
	if at < 0 {
		return false
	}
	scale := inverse(row[at])
	for j, v := range row[at:] {
		row[at+j] = mulMod(scale, v)
	}
	e.rows, e.pivots = append(e.rows, row), append(e.pivots, at)
	return true
}
