package allocation

import (
	"math"
	"math/bits"
)

// ratio is the distribution under Q of a likelihood ratio, or of a mean of some, with mean one: mass[i] at e^{(low+i)h},
// zero at 0, and beyond, what is at infinity: its mean under Q, since its mass is 0.
type ratio struct {
	step   float64
	low    int
	mass   []float64
	zero   float64
	beyond float64
}

// single returns the ratio of one step, on a grid from about low to high standard deviations.
func single(noise, step, sigmas float64) ratio {
	std := 1 / noise
	mean := std * std / 2
	low := int(math.Floor((-mean - sigmas*std) / step))
	high := int(math.Ceil((mean + sigmas*std) / step))
	r := ratio{step: step, low: low, mass: make([]float64, high-low+1)}
	// between returns Q, and the mean of W under Q, of from < log W < to.
	between := func(from, to float64) (q, p float64) {
		return normal(from+mean, to+mean, std), normal(from-mean, to-mean, std)
	}
	for i := range high - low {
		q, p := between(float64(low+i)*step, float64(low+i+1)*step)
		up := (p*math.Exp(-float64(low+i)*step) - q) / math.Expm1(step)
		up = math.Min(math.Max(up, 0), q)
		r.mass[i] += q - up
		r.mass[i+1] += up
	}
	q, p := between(math.Inf(-1), float64(low)*step)
	up := math.Min(p*math.Exp(-float64(low)*step), q)
	r.mass[0] += up
	r.zero = q - up
	q, p = between(float64(high)*step, math.Inf(1))
	r.mass[high-low] += q
	r.beyond = math.Max(p-q*math.Exp(float64(high)*step), 0)
	return r
}

// normal returns the probability of from < x < to for a normal x of mean 0.
func normal(from, to, std float64) float64 {
	a, b := from/(std*math.Sqrt2), to/(std*math.Sqrt2)
	if a > 0 {
		return (math.Erfc(a) - math.Erfc(b)) / 2
	}
	return (math.Erfc(-b) - math.Erfc(-a)) / 2
}

// finer returns the same distribution on a grid of half the step.
func (r ratio) finer() ratio {
	f := ratio{step: r.step / 2, low: 2 * r.low, mass: make([]float64, 2*len(r.mass)-1), zero: r.zero, beyond: r.beyond}
	for i, m := range r.mass {
		f.mass[2*i] = m
	}
	return f
}

// mean returns the distribution of own·R + (1-own)·O for independent ratios R and O on the same grid, on this grid: the
// mean of e^{ih} and e^{jh} lies between them, log(1 + (1-own)(e^{-dh} - 1)) above the larger one, i, for d = i - j ≥ 0.
func (r ratio) mean(o ratio, own float64) ratio {
	low, high := min(r.low, o.low), max(r.low+len(r.mass), o.low+len(o.mass))
	m := ratio{step: r.step, low: low, mass: make([]float64, high-low+1), zero: r.zero * o.zero,
		beyond: own*r.beyond + (1-own)*o.beyond}
	// put divides a mass at log(ratio) = (low+at)h between the neighbours of at.
	put := func(at, v float64) {
		if at <= 0 { // between the lowest point and 0
			up := math.Exp(at * r.step)
			m.mass[0] += v * up
			m.zero += v * (1 - up)
			return
		}
		whole := math.Floor(at)
		up := math.Expm1((at-whole)*r.step) / math.Expm1(r.step)
		m.mass[int(whole)] += v * (1 - up)
		m.mass[int(whole)+1] += v * up
	}
	for i, v := range r.mass {
		put(float64(r.low-low+i)+math.Log(own)/r.step, v*o.zero)
	}
	for i, v := range o.mass {
		put(float64(o.low-low+i)+math.Log1p(-own)/r.step, v*r.zero)
	}
	// gather adds the means of pairs whose larger point is least or more steps above the smaller one, which has this
	// share in the mean, times a weight. Pairs d steps apart have their mean at a fixed distance below the larger point:
	// for all d whose means are between the same two points, the masses of smaller points are convolved with a kernel.
	gather := func(larger, smaller ratio, share float64, least int, weight float64) {
		var kernels []kernel // a pair each: parts of the mass that go to the point below, and above
		var below []int      // steps from the larger point down to the one below
		for d := least; d <= larger.low+len(larger.mass)-1-smaller.low; d++ {
			rise := math.Log1p(share*math.Expm1(-float64(d)*r.step)) / r.step
			whole := math.Floor(rise)
			up := math.Expm1((rise-whole)*r.step) / math.Expm1(r.step)
			last := len(below) - 1
			if last < 0 || below[last] != int(-whole) || len(kernels[2*last].terms) == chunk {
				kernels, below = append(kernels, kernel{from: d}, kernel{from: d}), append(below, int(-whole))
				last++
			}
			for i, part := range []float64{weight * (1 - up), weight * up} {
				kernels[2*last+i].terms = append(kernels[2*last+i].terms, part)
			}
		}
		convolutions(smaller.mass, kernels, func(c int, row []float64) {
			// element s of the row is of the smaller point that is s + from steps below the larger one
			shift := smaller.low + kernels[c].from - larger.low
			first, last := max(0, shift), min(len(larger.mass), len(row)+shift)
			if first >= last {
				return
			}
			to := m.mass[larger.low+first-low-below[c/2]+c%2:]
			for i, v := range larger.mass[first:last] {
				to[i] += v * row[first-shift+i]
			}
		})
	}
	if own == 0.5 && r.low == o.low && &r.mass[0] == &o.mass[0] { // every pair is there twice, but for equal points
		gather(r, r, 0.5, 1, 2)
		for i, v := range r.mass {
			m.mass[r.low+i-low] += v * v
		}
		return m
	}
	gather(r, o, 1-own, 0, 1)
	gather(o, r, own, 1, 1)
	return m
}

// trim takes the points away below which there is less than the mass low, and above which the mean is less than high.
func (r ratio) trim(low, high float64) ratio {
	first, below, mean := 0, 0.0, 0.0
	for first < len(r.mass)-1 && below+r.mass[first] < low {
		below += r.mass[first]
		mean += r.mass[first] * r.value(first)
		first++
	}
	last, above, far := len(r.mass)-1, 0.0, 0.0
	for last > first && far+r.mass[last]*r.value(last) < high {
		above += r.mass[last]
		far += r.mass[last] * r.value(last)
		last--
	}
	t := ratio{r.step, r.low + first, append([]float64(nil), r.mass[first:last+1]...), r.zero, r.beyond}
	up := math.Min(mean/r.value(first), below)
	t.mass[0] += up
	t.zero += below - up
	t.mass[len(t.mass)-1] += above
	t.beyond += math.Max(far-above*r.value(last), 0)
	return t
}

// value returns what point i stands for.
func (r ratio) value(i int) float64 { return math.Exp(float64(r.low+i) * r.step) }

// block returns the ratio of a block of choices steps, on a grid of the step h, with tails of at most the mass tail.
func block(choices int, noise, h, tail float64) ratio {
	sigmas := math.Sqrt(-2*math.Log(tail)) + 1
	halvings := 0 // means of m steps are on a grid of h·√(c/m), nearly
	for n := choices; n >= 4 && math.Ldexp(h, halvings+1) < 0.03/noise; n /= 4 {
		halvings++
	}
	power := single(noise, math.Ldexp(h, halvings), sigmas) // of 1, 2, 4, ... steps
	size, done := 1, 0
	var sum *ratio
	for {
		if choices&size != 0 {
			next := power
			if sum != nil {
				for sum.step > power.step {
					finer := sum.finer()
					sum = &finer
				}
				next = sum.mean(power, float64(done)/float64(done+size)).trim(tail, tail)
			}
			sum = &next
			done += size
		}
		if done == choices {
			break
		}
		if size *= 2; size >= 4 && halvings > 0 && bits.TrailingZeros(uint(size))%2 == 0 { // a power of four
			power, halvings = power.finer(), halvings-1
		}
		power = power.mean(power, 0.5).trim(tail, tail)
	}
	return *sum
}
