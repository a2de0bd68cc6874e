package bins

import (
	"context"
	"math"

	"mafalda/accounting/internal/gaussian"

	"gonum.org/v1/gonum/mathext"
)

// halfSpace draws samples for the addition of a record: from Q, but only where the inequality of weighted means
//
//	L ≥ Σ_j p_j y_j - KL(p ‖ uniform),     p any distribution over the bins,
//
// does not rule out L < -ε. There Σ p_j y_j, which is normal, is at most KL - ε; its probability peak bounds every
// sample.
type halfSpace struct {
	bins      *Mechanism
	precision float64 // 1/ν²
	epsilon   float64
	weights   []float64 // p
	image     []float64 // Lᵀp: Σ p_j y_j is image·noise/ν less its mean
	std       float64   // standard deviation of Σ p_j y_j
	peak      float64
}

// newHalfSpace takes for p nearly the best distribution on the way from the uniform one to the one of least variance.
// The bound holds for any p.
func newHalfSpace(b *Mechanism, noiseMultiplier, epsilon float64) *halfSpace {
	n := b.Number()
	h := &halfSpace{bins: b, precision: 1 / (noiseMultiplier * noiseMultiplier), epsilon: epsilon,
		weights: make([]float64, n)}
	for j := range h.weights {
		h.weights[j] = 1 / float64(n)
	}
	h.measure()
	trial := *h
	for rate := 0.5; rate > 1e-3; {
		trial.weights = h.lighter(rate)
		trial.measure()
		if trial.peak < h.peak {
			*h = trial
		} else {
			rate /= 2
		}
	}
	return h
}

// lighter returns weights with less on the bins that most of the variance comes from.
func (h *halfSpace) lighter(rate float64) []float64 {
	n := len(h.weights)
	weights := make([]float64, n)
	var total float64
	for i := range weights {
		var covariance float64
		for k, v := range h.bins.lower[i*n : i*n+i+1] {
			covariance += v * h.image[k]
		}
		scale := h.std * h.std / h.precision
		weights[i] = h.weights[i] * math.Exp(-rate*covariance/scale)
		total += weights[i]
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights
}

// measure sets what follows from the weights.
func (h *halfSpace) measure() {
	n := len(h.weights)
	h.image = make([]float64, n)
	var drift, divergence, square float64
	for j, p := range h.weights {
		for k, v := range h.bins.lower[j*n : j*n+j+1] {
			h.image[k] += p * v
		}
		drift += p * h.bins.diagonal[j] * h.precision / 2
		if p > 0 {
			divergence += p * math.Log(p*float64(n))
		}
	}
	for _, v := range h.image {
		square += v * v
	}
	h.std = math.Sqrt(square * h.precision)
	// a little more than the half-space, for the rounding of all this
	limit := (math.Max(divergence, 0)-h.epsilon+drift)/h.std + 1e-9
	h.peak = math.Min(normalCDF(limit)*(1+weightError), 1)
}

// normalCDF returns Φ(x), to 1e-13 also where it is small.
func normalCDF(x float64) float64 {
	if x < 0 {
		return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * gaussian.Mills(-x)
	}
	return 1 - math.Erfc(x/math.Sqrt2)/2
}

// sample returns the moments of a number of samples of peak·(1-e^(ε+L))₊, whose mean is δ(ε) for the addition of a record.
func (h *halfSpace) sample(ctx context.Context, s stream, samples int) moments {
	if !(h.peak > 1e-290) { // of probabilities too small to be drawn
		return moments{count: samples}
	}
	return s.moments(ctx, samples, func(random *normals) func() float64 {
		noise, y := make([]float64, len(h.weights)), make([]float64, len(h.weights))
		return func() float64 { return h.addition(random, noise, y) }
	})
}

func (h *halfSpace) addition(random *normals, noise, y []float64) float64 {
	random.fill(noise)
	along := mathext.NormalQuantile(random.uniform() * h.peak) // in place of the noise's own component
	length := h.std / math.Sqrt(h.precision)
	var own float64
	for k, v := range h.image {
		own += v * noise[k] / length
	}
	for k, v := range h.image {
		noise[k] += (along - own) * v / length
	}
	h.bins.logsTo(y, noise, h.precision)
	_, _, loss := meanExp(y)
	if loss >= -h.epsilon {
		return 0
	}
	return -math.Expm1(h.epsilon+loss) * h.peak
}
