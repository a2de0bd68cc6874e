package graph

import (
	"fmt"
	"slices"

	"mafalda/internal/lists"
)

// Blocks returns the block diagonal matrix of square matrices, in their order. One alone is returned as it is.
func Blocks(matrices []*CSR) *CSR {
	if len(matrices) == 1 {
		return matrices[0]
	}
	var entries []Edge
	at := 0
	for _, w := range matrices {
		w.DoNonZero(func(i, j int, v float64) { entries = append(entries, Edge{at + i, at + j, v}) })
		at += w.rows
	}
	return NewSquare(at, entries)
}

// Split returns the count blocks, all of one size, of a block diagonal matrix: the inverse of Blocks. The error is one
// that is not of count blocks.
func (m *CSR) Split(count int) ([]*CSR, error) {
	if count == 1 && m.rows == m.cols {
		return []*CSR{m}, nil
	}
	if count < 1 || m.rows != m.cols || m.rows%count != 0 {
		return nil, fmt.Errorf("a %d×%d matrix is not of %d blocks", m.rows, m.cols, count)
	}
	n := m.rows / count
	blocks := make([][]Edge, count)
	for i := range m.rows {
		outside := -1
		m.DoRowNonZero(i, func(_, j int, v float64) {
			if j/n != i/n {
				outside = j
			}
			blocks[i/n] = append(blocks[i/n], Edge{i % n, j % n, v})
		})
		if outside >= 0 {
			return nil, fmt.Errorf("entry (%d,%d) is outside of the %d blocks", i+1, outside+1, count)
		}
	}
	return lists.Map(blocks, func(entries []Edge) *CSR { return NewSquare(n, entries) }), nil
}

// CheckGossip returns nil if w is square, finite, not negative, and all of its rows sum to one within 1e-9, else
// ErrGossip.
func CheckGossip(w *CSR) error {
	n, columns := w.Dims()
	if n != columns || n == 0 {
		return fmt.Errorf("%w: it is %d×%d", ErrGossip, n, columns)
	}
	return (&Gossip{w: w}).validate(numberLabels(n))
}

// Equal reports whether two matrices have the same size and the same entries, to the bit.
func (m *CSR) Equal(other *CSR) bool {
	return m.rows == other.rows && m.cols == other.cols && slices.Equal(m.indptr, other.indptr) && slices.Equal(m.indices, other.indices) && slices.Equal(m.data, other.data)
}
