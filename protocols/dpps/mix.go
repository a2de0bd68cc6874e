package dpps

import "gonum.org/v1/gonum/floats"

// addNoise adds γ_n n_i, n_i of independent Laplace numbers of this scale.
func (p *PushSum) addNoise(scale float64) {
	for i, s := range p.shared {
		var norm float64
		for c := range s {
			x := p.options.NoiseRate * scale * p.random.ExpFloat64()
			norm += x
			if p.random.Uint64()&1 == 0 {
				x = -x
			}
			s[c] += x
		}
		p.noise[i] = norm
	}
}

// mix averages messages and scalars, with the round's weights or with 1/n in a synchronization.
func (p *PushSum) mix(synchronize bool) {
	n := len(p.shared)
	width := len(p.shared[0])
	if synchronize {
		average, scalar := make([]float64, width), 0.0
		for i, s := range p.shared {
			floats.AddScaled(average, 1/float64(n), s)
			scalar += p.scalars[i] / float64(n)
		}
		for i := range n {
			copy(p.shared[i], average)
			p.scalars[i] = scalar
			p.local[i], p.noise[i], p.mixed[i] = 0, 0, 0
		}
		if p.window != nil {
			p.window.added, p.window.sums = nil, nil
		}
		p.correct()
		return
	}
	w := p.sequence.Weights(p.round)
	next, scalars := make([][]float64, n), make([]float64, n)
	for i := range n {
		next[i] = make([]float64, width)
		p.mixed[i] = 0
		w.DoRowNonZero(i, func(_, j int, v float64) {
			floats.AddScaled(next[i], v, p.shared[j])
			p.mixed[i] += v * floats.Norm(p.shared[j], 1)
		})
	}
	w.MulVecTo(scalars, false, p.scalars)
	p.shared, p.scalars = next, scalars
	p.correct()
}

func (p *PushSum) correct() {
	for i, s := range p.shared {
		floats.ScaleTo(p.corrected[i], 1/p.scalars[i], s)
	}
}
