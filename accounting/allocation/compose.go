package allocation

import (
	"math"

	"mafalda/internal/rounding"
)

// losses are privacy losses of all blocks in one direction: mass[i] at (low+i)h, under the measure that the direction
// averages over, and infinite, the mass without bound.
type losses struct {
	step     float64
	low      int
	mass     []float64
	infinite float64
}

// delta returns E (1 - e^{ε-loss})₊.
func (l losses) delta(epsilon float64) float64 {
	sum := l.infinite
	for i := len(l.mass) - 1; i >= 0; i-- {
		loss := float64(l.low+i) * l.step
		if loss <= epsilon {
			break
		}
		sum += l.mass[i] * -math.Expm1(epsilon-loss)
	}
	return sum
}

// plus convolves, and trims what is less than the mass tail at either end: large losses count as infinite, small ones
// are rounded up.
func (l losses) plus(o losses, tail float64) losses {
	sum := losses{l.step, l.low + o.low, convolve(l.mass, o.mass), l.infinite + o.infinite - l.infinite*o.infinite}
	return sum.trim(tail)
}

func (l losses) trim(tail float64) losses {
	last, above := len(l.mass)-1, 0.0
	for last > 0 && above+l.mass[last] < tail {
		above += l.mass[last]
		last--
	}
	first, below := 0, 0.0
	for first < last && below+l.mass[first] < tail {
		below += l.mass[first]
		first++
	}
	t := losses{l.step, l.low + first, l.mass[first : last+1], l.infinite + above}
	t.mass[0] += below
	return t
}

// times convolves the losses with themselves.
func (l losses) times(count int, tail float64) losses {
	var all *losses
	for power := l; ; power = power.plus(power, tail) {
		if count&1 == 1 {
			next := power
			if all != nil {
				next = all.plus(power, tail)
			}
			all = &next
		}
		if count >>= 1; count == 0 {
			return *all
		}
	}
}

// both are the losses of a removed and of an added record.
type both struct{ removed, added losses }

// roundedLoss is what all losses of a block may be too small by: positions on the grid are known to some units of the
// last place of numbers up to 1e3, in each of some dozen sums.
const roundedLoss = 1e-11

// roundedMass is the relative error of masses: of a block, from differences of error functions and sums of positive
// terms; of k blocks, k times it.
const roundedMass = 1e-9

// allLosses has what delta takes from both directions.
type allLosses struct {
	both
	shift, slack float64
}

// delta returns the larger δ, rounded up.
func (l allLosses) delta(epsilon float64) float64 {
	at := math.Max(epsilon-l.shift, 0)
	return math.Min(math.Max(l.removed.delta(at), l.added.delta(at))*(1+l.slack), 1)
}

// compose returns the losses of all blocks, for δ of about this size.
func (m Mechanism) compose(noise, delta, fine float64) allLosses {
	rounds := float64(m.rounds)
	std := math.Inf(1) // of the loss of a block
	for _, b := range m.sizes() {
		std = math.Min(std, math.Sqrt(lossVariance(1/(noise*noise), b.Choices)))
	}
	step := rounding.Few(fine * std)
	tail := 1e-5 * delta / rounds
	var all *both
	for _, b := range m.sizes() {
		r := block(b.Choices, noise, step, tail)
		one := r.losses()
		of := both{one.removed.trim(tail).times(b.Rounds, tail), one.added.trim(tail).times(b.Rounds, tail)}
		if all != nil {
			of = both{all.removed.plus(of.removed, tail), all.added.plus(of.added, tail)}
		}
		all = &of
	}
	return allLosses{*all, rounds * roundedLoss, rounds * roundedMass}
}

// lossVariance returns about the variance of the loss of a block whose steps have losses of this variance.
func lossVariance(variance float64, choices int) float64 {
	if variance > 500 {
		return variance
	}
	return math.Log1p(math.Expm1(variance) / float64(choices))
}

// losses returns the losses of a block.
func (r ratio) losses() both {
	n := len(r.mass)
	removed := losses{r.step, r.low, make([]float64, n), r.beyond}
	added := losses{r.step, -(r.low + n - 1), make([]float64, n), r.zero}
	for i, q := range r.mass {
		removed.mass[i] = q * r.value(i)
		added.mass[n-1-i] = q
	}
	return both{removed, added}
}
