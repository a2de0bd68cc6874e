package bins

import "math"

// drawer draws samples of a mixture, one after the other.
type drawer struct {
	mixture *mixture
	random  *normals
	noise   []float64 // b standard normal numbers
	y       []float64 // log N(m_j, ν²I)/Q at the sample
	ratios  []float64 // R/P of every component at the sample
}

func (m *mixture) newDrawer(r *normals) *drawer {
	n := m.bins.Number()
	return &drawer{mixture: m, random: r, noise: make([]float64, n), y: make([]float64, n),
		ratios: make([]float64, len(m.components))}
}

// removal draws x from the mixture R and returns (1-e^(ε-L))₊ P/R, whose mean is δ(ε) for the removal of a record. It
// sets ratios where that is not zero.
func (d *drawer) removal() float64 {
	m := d.mixture
	u := d.random.uniform()
	chosen := m.components[len(m.components)-1]
	for _, c := range m.components {
		if u < c.share {
			chosen = c
			break
		}
		u -= c.share
	}
	d.drawAround(chosen.draw(d.random.uniform()), chosen.kappa)
	n := float64(len(d.y))
	largest, _, loss := meanExp(d.y)
	if loss <= m.epsilon {
		return 0
	}
	var mixed float64
	for i, c := range m.components {
		var powers float64
		for _, y := range d.y {
			powers += math.Exp(c.kappa * (y - largest))
		}
		d.ratios[i] = math.Exp(float64(c.tuples.size)*(c.kappa*largest+math.Log(powers/n)) - c.logZ - loss)
		mixed += c.share * d.ratios[i]
	}
	return -math.Expm1(m.epsilon-loss) / mixed
}

// drawAround sets y for an x from N(κ Σ m_j, ν²I), the sum over the tuple.
func (d *drawer) drawAround(tuple []int32, kappa float64) {
	b, precision := d.mixture.bins, d.mixture.precision
	n := len(d.y)
	d.random.fill(d.noise)
	b.logsTo(d.y, d.noise, precision)
	for _, i := range tuple {
		for j, v := range b.covered[int(i)*n : (int(i)+1)*n] {
			d.y[j] += kappa * precision * v
		}
	}
}

// meanExp returns the largest y, Σ e^(y_j-largest), and the logarithm of the mean of e^(y_j).
func meanExp(y []float64) (largest, sum, log float64) {
	largest = math.Inf(-1)
	for _, v := range y {
		largest = math.Max(largest, v)
	}
	for _, v := range y {
		sum += math.Exp(v - largest)
	}
	return largest, sum, largest + math.Log(sum/float64(len(y)))
}
