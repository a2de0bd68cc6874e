package modular

// Echelon is a row echelon form that grows row by row. The zero value has no rows.
type Echelon struct {
	Rows   [][]uint64 // Rows[i] has its first nonzero entry, a 1, in column pivots[i]
	pivots []int
}

// Reduce takes multiples of the rows out of x, which it changes, and returns the column of what is left first, -1 if
// nothing is.
func (e *Echelon) Reduce(x []uint64) int {
	for i, r := range e.Rows {
		at := e.pivots[i]
		minus := Neg(x[at])
		if minus == 0 {
			continue
		}
		for j, v := range r[at:] {
			if v != 0 {
				x[at+j] = Add(x[at+j], Mul(minus, v))
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

// Add reduces a row, which it keeps, by the others and reports whether something is left.
func (e *Echelon) Add(row []uint64) bool {
	at := e.Reduce(row)
	if at < 0 {
		return false
	}
	scale := Inverse(row[at])
	for j, v := range row[at:] {
		row[at+j] = Mul(scale, v)
	}
	e.Rows, e.pivots = append(e.Rows, row), append(e.pivots, at)
	return true
}
