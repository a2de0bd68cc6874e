package dense

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// secular has the eigenvalues and vectors of D + ρzzᵀ, ρ > 0, for poles d in ascending order, no two of them equal, and
// no zero in z. The eigenvalues lie between the poles, and behind the last: they are the roots of
//
//	f(λ) = 1 + ρ Σ_i z_i²/(d_i - λ).
//
// What is known of a root λ_j is its distance to every pole, each with all its digits. For some ẑ the λ_j are exactly
// the eigenvalues of D + ρẑẑᵀ, and the vectors ẑ_i/(d_i - λ_j) are orthogonal however close eigenvalues are.
type secular struct {
	poles  []pole
	rho    float64
	rows   []float64 // vectors, a row each, with the poles in this order: by their sides
	order  []int
	values []float64
}

const rootsAtOnce = 16 // that a goroutine looks for

// newSecular finds the eigenvalues; rows, of as many numbers as there are pairs of poles, get the distances d_i - λ_j.
func newSecular(poles []pole, rho float64, rows []float64) *secular {
	n := len(poles)
	s := &secular{poles: poles, rho: rho, rows: rows[:n*n], order: lists.UpTo(n), values: make([]float64, n)}
	slices.SortStableFunc(s.order, func(i, j int) int { return cmp.Compare(poles[i].side, poles[j].side) })
	s.eachPole(rootsAtOnce, func(j int) { s.values[j] = s.root(j, s.row(j)) })
	return s
}

func (s *secular) row(j int) []float64 { return s.rows[j*len(s.poles) : (j+1)*len(s.poles)] }

// eachPole calls f for every pole, on all processors.
func (s *secular) eachPole(size int, f func(i int)) {
	n := len(s.poles)
	parallel.For((n+size-1)/size, func(part int) {
		for i := part * size; i < min((part+1)*size, n); i++ {
			f(i)
		}
	})
}

const mostSecularSteps = 200 // for a root; some five are made

// root returns λ_j, and writes its distances. Every step solves for what f would be if all poles on either side were
// one, with the same value and slope ("middle way": Li 1993), or halves the interval that has the root.
func (s *secular) root(j int, distance []float64) float64 {
	origin, last := j, j == len(s.poles)-1
	width := s.width(j) // of the interval behind pole j
	place := func() {
		for i, p := range s.poles {
			distance[i] = p.d - s.poles[origin].d
		}
	}
	place()
	at, low, high := width/2, 0.0, width
	for step := 0; step < mostSecularSteps && len(s.poles) > 1; step++ {
		split := j + 1 // the poles before and from here on are taken together
		if last {
			split = j
		}
		f := s.evaluate(distance, at, split)
		if step == 0 && !last && f.value < 0 { // the next pole is closer
			origin++
			place()
			at, low, high = at-width, low-width, high-width
		}
		if math.Abs(f.value) <= f.wrong {
			break
		}
		if f.value < 0 {
			low = at
		} else {
			high = at
		}
		next := at + f.middleWay(distance[split-1]-at, distance[split]-at, last)
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if next == at || next == low || next == high {
			break
		}
		at = next
	}
	if len(s.poles) == 1 {
		at = width
	}
	for i := range distance {
		distance[i] -= at
	}
	return s.poles[origin].d + at
}

// width returns how far behind pole j the next one is, or how far its eigenvalue is at most.
func (s *secular) width(j int) float64 {
	if j < len(s.poles)-1 {
		return s.poles[j+1].d - s.poles[j].d
	}
	var sum float64
	for _, p := range s.poles {
		sum += s.rho * p.z * p.z
	}
	return sum
}

// secularValue is f somewhere, with the slopes of its terms before and behind that, and how far it may be off.
type secularValue struct{ value, below, above, wrong float64 }

// evaluate returns f at a distance behind the origin.
func (s *secular) evaluate(distance []float64, at float64, split int) secularValue {
	part := func(from, to int) (sum, slope float64) {
		for i, p := range s.poles[from:to] {
			t := p.z / (distance[from+i] - at)
			sum += p.z * t
			slope += t * t
		}
		return s.rho * sum, s.rho * slope
	}
	low, below := part(0, split)
	high, above := part(split, len(s.poles))
	wrong := ulp * float64(len(s.poles)) * (1 + math.Abs(low) + math.Abs(high))
	return secularValue{value: 1 + low + high, below: below, above: above, wrong: wrong}
}

// middleWay returns the step η to a root of c + below·p²/(p-η) + above·q²/(q-η), which is f at η = 0: to the one
// between p and q, or behind both.
func (f secularValue) middleWay(p, q float64, behind bool) float64 {
	c := f.value - p*f.below - q*f.above
	a := (p+q)*f.value - p*q*(f.below+f.above)
	b := p * q * f.value
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if behind {
		root = -root
	}
	if (a <= 0) != behind {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}

// vectors replaces the distances by the eigenvectors of D + ρẑẑᵀ.
func (s *secular) vectors() {
	z := s.nearby()
	s.eachPole(rootsAtOnce, func(j int) {
		row, v := s.row(j), make([]float64, len(s.poles))
		for i, d := range row {
			v[i] = z[i] / d
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		for to, i := range s.order {
			row[to] = v[i]
		}
	})
}

// nearby returns ẑ but for scale: ẑ_i² ∝ Π_j (λ_j - d_i)/Π_{j≠i} (d_j - d_i).
func (s *secular) nearby() []float64 {
	const columns = 64 // at a time
	n := len(s.poles)
	z := make([]float64, n)
	parallel.For((n+columns-1)/columns, func(part int) {
		from, to := part*columns, min((part+1)*columns, n)
		for i := from; i < to; i++ {
			z[i] = -s.row(i)[i]
		}
		for j, p := range s.poles {
			row := s.row(j)
			for i := from; i < to; i++ {
				if i != j {
					z[i] *= row[i] / (s.poles[i].d - p.d)
				}
			}
		}
		for i := from; i < to; i++ {
			z[i] = math.Copysign(math.Sqrt(math.Abs(z[i])), s.poles[i].z)
		}
	})
	return z
}
