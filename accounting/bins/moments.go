package bins

import "math"

// moments are count, mean and sum of squared deviations of samples.
type moments struct {
	count         int
	mean, squares float64
}

// add counts one more sample, by Welford's update.
func (m *moments) add(v float64) {
	m.count++
	d := v - m.mean
	m.mean += d / float64(m.count)
	m.squares += d * (v - m.mean)
}

// merge counts others, too (Chan et al.).
func (m *moments) merge(o moments) {
	n := m.count + o.count
	if n == 0 {
		return
	}
	d := o.mean - m.mean
	m.squares += o.squares + d*d*float64(m.count)*float64(o.count)/float64(n)
	m.mean += d * float64(o.count) / float64(n)
	m.count = n
}

// variance returns the unbiased estimate of the samples' variance.
func (m moments) variance() float64 { return m.squares / float64(m.count-1) }

// What the upper bound pays for rounding, of weights and sums, relative to the mean and to the largest value.
const (
	weightError = 1e-9
	peakError   = 1e-12
)

// upperMean returns a number that the mean of a distribution on [0, peak] is above with a probability of at most
// failure, given independent samples of it: the empirical Bernstein bound of Maurer & Pontil 2009 (Theorem 4),
//
//	mean + √(2V log(2/β)/N) + 7 peak log(2/β)/(3(N-1)),     V the sample variance,
//
// with rounding added, and never more than peak.
func (m moments) upperMean(peak, failure float64) float64 {
	n := float64(m.count)
	log := math.Log(2 / failure)
	bound := m.mean + math.Sqrt(2*m.variance()*log/n) + 7*peak*log/(3*(n-1))
	return math.Min(bound*(1+weightError)+peak*peakError, peak*(1+weightError))
}
