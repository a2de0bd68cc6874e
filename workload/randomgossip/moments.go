package randomgossip

import "math"

// moments has the inverse moments e_k(c, m) = E[(c + B)^-k] of binomial variables B of m trials that succeed with the
// probability q.
type moments struct {
	q     float64
	pmf   map[int][]float64
	known map[[3]int]float64
}

func newMoments(q float64) *moments { return &moments{q, map[int][]float64{}, map[[3]int]float64{}} }

// distribution returns P(B = z) for z = 0 … m, by multiplication from the mode, where nothing underflows.
func (e *moments) distribution(m int) []float64 {
	if p, ok := e.pmf[m]; ok {
		return p
	}
	p := make([]float64, m+1)
	mode := min(int(float64(m+1)*e.q), m)
	p[mode] = 1
	odds := e.q / (1 - e.q)
	sum := 1.0
	for z := mode; z < m; z++ {
		p[z+1] = p[z] * odds * float64(m-z) / float64(z+1)
		sum += p[z+1]
	}
	for z := mode; z > 0; z-- {
		p[z-1] = p[z] / odds * float64(z) / float64(m-z+1)
		sum += p[z-1]
	}
	for z := range p {
		p[z] /= sum
	}
	e.pmf[m] = p
	return p
}

// entry returns e_k(c, m), and 0 for m < 0: of what is not there.
func (e *moments) entry(k, c, m int) float64 {
	if m < 0 {
		return 0
	}
	key := [3]int{k, c, m}
	if v, ok := e.known[key]; ok {
		return v
	}
	var v float64
	for z, p := range e.distribution(m) {
		v += p * math.Pow(float64(c+z), -float64(k))
	}
	e.known[key] = v
	return v
}

// joint returns E[1/((a + X + Z)(b + Y + Z))] for independent binomial X, Y, Z of x, y, z trials; 0 if one of them is
// negative.
func (e *moments) joint(a, b, x, y, z int) float64 {
	if x < 0 || y < 0 || z < 0 {
		return 0
	}
	var v float64
	for both, p := range e.distribution(z) {
		v += p * e.entry(1, a+both, x) * e.entry(1, b+both, y)
	}
	return v
}
