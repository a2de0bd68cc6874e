package workload

import "math"

// diagonals is a symmetric c×c matrix by its diagonals, one after the other.
type diagonals struct {
	count int
	data  []float64
}

// packLower copies the lower triangle of a c×c matrix.
func packLower(k []float64) *diagonals {
	count := int(math.Round(math.Sqrt(float64(len(k)))))
	d := &diagonals{count, make([]float64, count*(count+1)/2)}
	for p := range count {
		for q, v := range k[p*count : p*count+p+1] {
			d.lag(p - q)[q] = v
		}
	}
	return d
}

// lag returns the m-th diagonal below the main one: its entry q stands in row q+m and column q.
func (d *diagonals) lag(m int) []float64 {
	from := m*d.count - m*(m-1)/2
	return d.data[from : from+d.count-m]
}

// entry returns an entry.
func (d *diagonals) entry(p, q int) float64 {
	if p < q {
		p, q = q, p
	}
	return d.lag(p - q)[q]
}

// add adds v to an entry.
func (d *diagonals) add(p, q int, v float64) {
	if p < q {
		p, q = q, p
	}
	d.lag(p - q)[q] += v
}
