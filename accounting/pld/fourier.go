package pld

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// unit is the unit roundoff.
const unit = 0x1p-53

// transformError bounds ‖computed - exact‖₂/‖exact‖₂ of a transform of 2^k numbers: k times an error a level of
// μ + 4√2·u + small, μ being the error of the roots of unity (Higham 2002, Theorem 24.2). Gonum takes each root from the
// sine and the cosine of an angle below 2π with three roundings, so that μ is below 14u.
func transformError(length int) float64 { return 20 * unit * float64(bits.Len(uint(length))) }

// A circle is a measure on equally spaced points of a circle.
type circle struct {
	dense []float64 // 2^k points
	at    []int     // places of the mass, in any order, also repeated
	mass  []float64
}

// A spectrum collects the logarithm of a product of powers of transforms: of the convolution of many measures on a
// circle.
type spectrum struct {
	transform  *fourier.FFT
	log, angle []float64 // logarithm and phase of the product
	off        []float64 // bound of the error of log + i·angle
	most       []float64 // bound of the exact product's logarithm
	factors    []factor
}

// A factor is what one measure's transform may be off by: a bound of ‖error‖₂ of its coefficients, how often it is a
// factor, and bounds of the coefficients' logarithms, or +Inf for coefficients with errors of their own.
type factor struct {
	off, power float64
	most       []float64
}

func newSpectrum(length int) *spectrum {
	half := length/2 + 1
	return &spectrum{transform: fourier.NewFFT(length), log: make([]float64, half), angle: make([]float64, half),
		off: make([]float64, half), most: make([]float64, half)}
}

// negligibleLog is a logarithm of coefficients that are left out, and counted into the error.
const negligibleLog = -80.0

// Coefficients above refinedLog are summed one by one, up to a limited number of terms: a transform's error is relative
// to the largest coefficient, and grows with the rounds.
const (
	refinedLog  = -45.0
	refinedWork = 5_000_000
)

// include convolves rounds times with the same measure, of total mass about one.
//
// The transform leaves out the largest mass, and its coefficients are added to that mass: so their error is relative to
// all other masses, which are few where a record hardly ever takes part, and the error of many rounds is as small.
func (s *spectrum) include(c circle, rounds int) {
	n, length := float64(rounds), len(c.dense)
	peak, others := c.splitPeak()
	var squares float64
	for _, v := range others {
		squares += v * v
	}
	largest := c.dense[peak]
	logLargest := math.Log(largest)
	coefficients := s.transform.Coefficients(nil, others)
	all := transformError(length) * math.Sqrt(float64(length)*squares) * 1.01 // ‖error‖₂ of the coefficients
	f := factor{all, n, make([]float64, len(coefficients))}
	work, half := 0, halfAngles(nil)
	for k, v := range coefficients {
		log, angle, off := addedTo(largest, logLargest, v)
		size := math.Exp(log)
		turn := float64(int64(peak)*int64(k)%int64(length)*int64(rounds%length)%int64(length)) / float64(length)
		f.most[k] = math.Inf(1)
		switch {
		case s.log[k]+n*log < negligibleLog:
			s.log[k] += n * log
			s.most[k] += n*math.Log(size+all) + 1e-3
		case n*log > refinedLog && work < refinedWork:
			if work += len(c.at); work > length && half == nil {
				half = newHalfAngles(length)
			}
			log, angle, off := c.coefficient(k, half)
			s.log[k] += n * log
			s.angle[k] += math.Remainder(n*angle, 2*math.Pi)
			size := math.Exp(log)
			s.off[k] += n*math.Log1p(off/size) + 4*unit*n*(math.Abs(log)+math.Abs(angle))
			s.most[k] += n*math.Log(size+off) + 1e-3
		default:
			s.log[k] += n * log
			f.most[k] = math.Log(size + all)
			s.angle[k] += math.Remainder(n*angle, 2*math.Pi) - 2*math.Pi*turn
			s.off[k] += n * off
			s.most[k] += n*f.most[k] + 1e-3
		}
	}
	s.factors = append(s.factors, f)
}

// splitPeak returns the point of the largest mass, and all other masses, counted from that point.
func (c circle) splitPeak() (peak int, others []float64) {
	for i, v := range c.dense {
		if v > c.dense[peak] {
			peak = i
		}
	}
	others = append(slices.Clone(c.dense[peak:]), c.dense[:peak]...)
	others[0] = 0
	return peak, others
}

// addedTo returns logarithm and angle of mass + v, and a bound of the error of log + i·angle by rounding. Where v is
// small it is relative to v: log|1+w| is half of log(1 + 2Re w + |w|²).
func addedTo(mass, logMass float64, v complex128) (log, angle, off float64) {
	angle = math.Atan2(imag(v), mass+real(v))
	re, im := real(v)/mass, imag(v)/mass
	if small := math.Hypot(re, im); small < 0.25 {
		log = logMass + math.Log1p(2*re+re*re+im*im)/2
		return log, angle, 32 * unit * (small + math.Abs(logMass))
	}
	return math.Log(math.Hypot(mass+real(v), imag(v))), angle, 32 * unit * (1 + math.Abs(logMass))
}

// coefficient returns the logarithm of one coefficient, and a bound of its error without the error of the total mass,
// which all coefficients have in common: where many powers are taken a coefficient that counts is near the total mass,
// and only the small difference has an error.
func (c circle) coefficient(k int, half halfAngles) (log, angle, off float64) {
	var total, less, across, size float64
	length := int64(len(c.dense))
	for i, m := range c.mass {
		sin, cos := half.sincos(int64(c.at[i])*int64(k)&(length-1), length) // of 2^k points: a division takes longer than the rest
		total += m
		less += 2 * m * sin * sin
		across -= 2 * m * sin * cos
		size += m * math.Abs(sin)
	}
	a, b := less/total, across/total
	rest := math.Hypot(1-a, b)
	log = math.Log(total)
	if fall := a*(2-a) - b*b; fall < 0.5 {
		log += math.Log1p(-fall) / 2
	} else { // here the difference from 1 would lose digits
		log += math.Log(rest)
	}
	return log, math.Atan2(b, 1-a), float64(4*len(c.mass)+64) * unit * size
}

// halfAngles are sine and cosine of π·part/length, by turns, for all parts; empty where they are computed when needed.
type halfAngles []float64

func (h halfAngles) sincos(part, length int64) (sin, cos float64) {
	if len(h) > 0 {
		return h[2*part], h[2*part+1]
	}
	if part > length/2 {
		part -= length
	}
	return math.Sincos(math.Pi * float64(part) / float64(length))
}

func newHalfAngles(length int) halfAngles {
	h := make(halfAngles, 2*length)
	for part := range length {
		h[2*part], h[2*part+1] = halfAngles(nil).sincos(int64(part), int64(length))
	}
	return h
}

// invert returns the convolution, each of whose points is off by at most err.
func (s *spectrum) invert() (convolution []float64, err float64) {
	coefficients := make([]complex128, len(s.log))
	length := float64(s.transform.Len())
	var sum float64
	for k, l := range s.log {
		if l < negligibleLog {
			sum += math.Exp(s.most[k])
			continue
		}
		size := math.Exp(l)
		sin, cos := math.Sincos(s.angle[k])
		coefficients[k] = complex(size*cos, size*sin)
		sum += size * math.Expm1(s.off[k]+8*unit*(math.Abs(l)+math.Abs(s.angle[k])+4))
	}
	err = (2*sum + s.factorErrors()) / length // every coefficient but the first and the last stands for two
	convolution = s.transform.Sequence(nil, coefficients)
	var squares float64
	for i := range convolution {
		convolution[i] /= length
		squares += convolution[i] * convolution[i]
	}
	err += transformError(len(convolution)) * math.Sqrt(squares)
	return convolution, err * 1.01
}

// factorErrors bounds the sum over all coefficients of what the product is off by for the factors' errors e. The
// product's derivative with respect to a factor x of power n is at most n·most/|x|, so that Σ|e|·n·most/|x| bounds
// it, and ‖e‖₂‖n·most/x‖₂ that.
func (s *spectrum) factorErrors() (sum float64) {
	for _, f := range s.factors {
		squares := 0.0
		for k, l := range f.most {
			if s.log[k] >= negligibleLog && !math.IsInf(l, 1) {
				squares += 2 * math.Exp(2*(s.most[k]-l))
			}
		}
		sum += f.power * f.off * math.Sqrt(squares)
	}
	return sum * 1.01
}

// turn moves a point of the circle to its beginning.
func (s *spectrum) turn(to int64) {
	length := int64(s.transform.Len())
	start := int64(mod(to, int(length)))
	for k := range s.angle {
		s.angle[k] += 2 * math.Pi * float64(start*int64(k)%length) / float64(length)
	}
}

func mod(i int64, n int) int {
	r := int(i % int64(n))
	if r < 0 {
		r += n
	}
	return r
}
