package bins

import (
	"context"
	"math"

	"mafalda/internal/parallel"
)

// mixture draws samples for the removal of a record at one noise multiplier and one ε: from components, the best of
// them for the bound always among them.
type mixture struct {
	bins       *Mechanism
	precision  float64 // 1/ν²
	epsilon    float64
	components []*component
	peak       float64 // bounds every sample
}

// chunkSize is how many samples one generator draws.
const chunkSize = 2048

const (
	adaptationChunks = 2
	adaptationRounds = 15
	coverShare       = 0.2  // of the draws, that the component with the best bound has
	leastShare       = 0.04 // of the draws, below which a component is left out
)

// newMixture returns a mixture of few components whose shares are fitted to samples of its own (by the EM algorithm for
// the relative entropy to the best density). How well they fit decides how close the bound comes, not whether it is
// one.
func newMixture(b *Mechanism, noiseMultiplier, epsilon float64, seed uint64) *mixture {
	m := &mixture{bins: b, precision: 1 / (noiseMultiplier * noiseMultiplier), epsilon: epsilon}
	m.components = []*component{newComponent(b.tuples[0], 1, m.precision)} // P itself
	tilt := 1.0
	for _, t := range b.tuples {
		best := bestKappa(t, tilt/float64(t.size), m.precision, epsilon)
		tilt = best * float64(t.size)
		for _, factor := range []float64{1, 1.5, 2.2, 3.2} {
			m.components = append(m.components, newComponent(t, best*factor, m.precision))
		}
	}
	for _, c := range m.components {
		c.share = 1 / float64(len(m.components))
	}
	m.fit(stream{seed: seed, purpose: forAdaptation})
	m.prune()
	m.peak = math.Inf(1)
	for _, c := range m.components {
		m.peak = math.Min(m.peak, math.Exp(logPeak(c.logZ, c.tilt(), epsilon))/c.share)
	}
	m.peak *= 1 + weightError
	return m
}

// fit sets the shares to those that samples ask for.
func (m *mixture) fit(s stream) {
	densities := make([][]float64, adaptationChunks) // of every component over P's, a row a sample
	values := make([][]float64, adaptationChunks)    // of the samples
	parallel.For(adaptationChunks, func(i int) {
		d := m.newDrawer(s.chunk(i))
		for range chunkSize {
			if v := d.removal(); v > 0 {
				values[i] = append(values[i], v)
				densities[i] = append(densities[i], d.ratios...)
			}
		}
	})
	n := len(m.components)
	shares := make([]float64, n)
	for range adaptationRounds {
		clear(shares)
		var total float64
		for i, chunk := range densities {
			for j, v := range values[i] {
				row := chunk[j*n : (j+1)*n]
				var mixed float64
				for k, c := range m.components {
					mixed += c.share * row[k]
				}
				for k, c := range m.components {
					shares[k] += v * c.share * row[k] / mixed
				}
				total += v
			}
		}
		if !(total > 0) || math.IsInf(total, 1) {
			return
		}
		for k, c := range m.components {
			c.share = shares[k] / total
		}
	}
}

// prune leaves out components of small shares, but for the one with the best bound.
func (m *mixture) prune() {
	best := m.components[0]
	for _, c := range m.components {
		if logPeak(c.logZ, c.tilt(), m.epsilon) < logPeak(best.logZ, best.tilt(), m.epsilon) {
			best = c
		}
	}
	best.share = math.Max(best.share, coverShare)
	var kept []*component
	var total float64
	for _, c := range m.components {
		if c.share >= leastShare {
			kept = append(kept, c)
			total += c.share
		}
	}
	for _, c := range kept {
		c.share /= total
	}
	m.components = kept
}

// sample returns the moments of a number of samples, which do not depend on the number of processors.
func (m *mixture) sample(ctx context.Context, s stream, samples int) moments {
	return s.moments(ctx, samples, func(random *normals) func() float64 { return m.newDrawer(random).removal })
}

// moments returns the moments of a number of samples, or of some of them once ctx has ended. They are drawn in chunks, each
// by what drawer makes of its generator, and counted in the order of the chunks.
func (s stream) moments(ctx context.Context, samples int, drawer func(random *normals) func() float64) moments {
	chunks := make([]moments, (samples+chunkSize-1)/chunkSize)
	parallel.For(len(chunks), func(i int) {
		if ctx.Err() != nil {
			return
		}
		draw, sum := drawer(s.chunk(i)), moments{}
		for range min(chunkSize, samples-i*chunkSize) {
			sum.add(draw())
		}
		chunks[i] = sum
	})
	var all moments
	for _, c := range chunks {
		all.merge(c)
	}
	return all
}
