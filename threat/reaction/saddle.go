package reaction

import (
	"math"
)

const (
	dimensions = 6    // of models, in which answers are played that balanced multipliers are made of
	sweeps     = 300  // of saddle, at most
	settled    = 1e-9 // relative change of a multiplier below which saddle ends
)

// balanced returns multipliers D with Dδ = BᵀQ(Re + Bδ) for the answers δ of the class that cost the most after a
// difference e: nothing is left between bound and attack in this step, if e is what the worst run has. sigma is what is
// added to every one, in κQ_vv.
func (s *stepCost) balanced(e []float64, sigma float64) multipliers {
	pulled := s.pull(e, dimensions)
	defer release(pulled)
	_, d := saddle(s.bqb, pulled, dimensions, s.lengths(e, dimensions))
	s.extra(d, sigma)
	return multipliers{d: d, dominance: thin / 2, margin: thin}
}

// saddle returns answers δ (count×width) of the given lengths that cost the most, tr δᵀGδ + 2 tr δᵀb, and the
// multipliers of their lengths, D_j = |(b + Gδ)_j|/n_j. Answer by answer is turned to where it costs most while the others
// stay (the mixing method of Wang, Chang and Kolter, 2017). In dimensions enough this ends where D − G is positive
// semidefinite; in too few, or too early, D must be raised.
func saddle(g, b []float64, width int, lengths []float64) (delta, d []float64) {
	count := len(lengths)
	delta, d = make([]float64, count*width), make([]float64, count)
	at := func(x []float64, j int) []float64 { return x[j*width : (j+1)*width] }
	for j, length := range lengths { // near b, and in all dimensions: on a line it would stay there
		start := at(delta, j)
		copy(start, at(b, j))
		size := norm(start)
		if !(size > 0) {
			size = 1
		}
		for i := range start {
			start[i] += 0.1 * size * math.Sin(float64((j+1)*(2*i+3)))
		}
		scaled(start, length/norm(start))
	}
	pull := make([]float64, width)
	for range sweeps {
		change := 0.0
		for j, length := range lengths {
			copy(pull, at(b, j))
			for l := range count {
				if l != j {
					add(pull, g[j*count+l], at(delta, l))
				}
			}
			size := norm(pull)
			if size > 0 {
				copy(at(delta, j), pull)
				scaled(at(delta, j), length/size)
			}
			before := d[j]
			d[j] = g[j*count+j] + size/length
			change = math.Max(change, math.Abs(d[j]-before)/d[j])
		}
		if change <= settled {
			break
		}
	}
	return delta, d
}

// costliest is the policy of the answers of the class, in several dimensions, that cost the most.
func (b *bounder) costliest(tr *trace, t int, a *answer, chi []float64, part bool) []float64 {
	sigma := a.move.times(chi, dimensions)
	var columns []int
	var scale, lengths []float64
	for v := range b.m {
		if length := norm(chi[v*dimensions : (v+1)*dimensions]); a.kappa[v] > 0 && length > 0 {
			columns, scale, lengths = append(columns, v), append(scale, a.kappa[v]), append(lengths, length)
		}
	}
	if part {
		columns, scale, lengths = append(columns, b.node), append(scale, 1), append(lengths, 1)
	}
	count := len(columns)
	g, pull := make([]float64, count*count), make([]float64, count*dimensions)
	for j, v := range columns {
		row := tr.pull[t][v*b.n : (v+1)*b.n]
		across := a.inject.transposeTimes(row, 1)
		for l, u := range columns {
			g[j*count+l] = scale[j] * scale[l] * across[u]
		}
		for i, x := range row {
			add(pull[j*dimensions:(j+1)*dimensions], scale[j]*x, sigma[i*dimensions:(i+1)*dimensions])
		}
	}
	delta, _ := saddle(g, pull, dimensions, lengths)
	answers := make([]float64, b.m*dimensions)
	for j, v := range columns {
		add(answers[v*dimensions:(v+1)*dimensions], scale[j], delta[j*dimensions:(j+1)*dimensions])
	}
	add(sigma, 1, a.inject.times(answers, dimensions))
	return sigma
}
