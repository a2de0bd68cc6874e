package protocols

import (
	"math/bits"

	"mafalda/graph"
)

// prime is 2⁶¹-1. Ranks of whole-numbered matrices are counted modulo it: such a rank is never too large, and it is too small only
// if the prime divides a minor that is not zero, which for numbers that have nothing to do with it has a chance of some 2⁻⁵⁰.
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

// echelon is a row echelon form that grows row by row.
type echelon struct {
	rows   [][]uint64 // rows[i] has its first nonzero entry, a 1, in column pivots[i]
	pivots []int
	width  int
}

func newEchelon(width int) *echelon { return &echelon{width: width} }

// add reduces a row, which it keeps, by the others and reports whether something is left.
func (e *echelon) add(row []uint64) bool {
	for i, r := range e.rows {
		at := e.pivots[i]
		c := row[at]
		if c == 0 {
			continue
		}
		minus := prime - c
		for j := at; j < e.width; j++ {
			if r[j] != 0 {
				row[j] = addMod(row[j], mulMod(minus, r[j]))
			}
		}
	}
	for at, c := range row {
		if c == 0 {
			continue
		}
		scale := inverse(c)
		for j := at; j < e.width; j++ {
			row[j] = mulMod(scale, row[j])
		}
		e.rows, e.pivots = append(e.rows, row), append(e.pivots, at)
		return true
	}
	return false
}

// exactRow returns row "from" of the t-th power of a matrix with whole entries, modulo the prime, from that of t-1.
func exactRow(integer *graph.CSR, before []uint64, from, t int) []uint64 {
	n, _ := integer.Dims()
	row := make([]uint64, n)
	if t == 0 {
		row[from] = 1
		return row
	}
	integer.DoNonZero(func(i, j int, v float64) {
		if before[i] != 0 {
			row[j] = addMod(row[j], mulMod(before[i], uint64(v)))
		}
	})
	return row
}
