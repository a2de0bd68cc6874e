package pld

import (
	"errors"
	"math"

	"mafalda/internal/fault"
)

// A composedLoss is the distribution under P of the sum of all rounds' losses, on a window: point k stands for the loss
// bottom + k·step, and has the mass scale·e^{-tilt·(its loss - centre)}·(tilted[k] ± err).
type composedLoss struct {
	step, bottom float64
	zone         int // point from which on little has come around the circle
	centre       float64
	tilt, scale  float64
	tilted       []float64
	err          float64
	slack        float64 // relative error of all masses
	lost         float64 // bound of the mass of losses above the window
	outside      float64 // bound of the tilted mass that came around to points of the zone
	shift        float64 // what a node's loss may be off by where a mean was moved to it
}

// compose convolves lattices of the same step, each as often as rounds says, for a curve from above or from below.
func compose(parts []lossLattice, rounds []int, c composition, w window, above bool) (*composedLoss, error) {
	step := parts[0].step
	points, err := w.points(step)
	if err != nil {
		return nil, err
	}
	offset, total := 0.0, 0.0
	for i, p := range parts {
		offset += p.offset * float64(rounds[i])
		total += float64(rounds[i])
	}
	first := math.Floor((w.below.loss-offset)/step) - 1
	d := &composedLoss{step: step, bottom: first*step + offset, tilt: w.tilt}
	d.zone = max(0, int(math.Floor((w.zone-d.bottom)/step)))
	d.centre = d.bottom + float64(d.zone)*step
	var circles []circle
	var all tiltedMoments
	longest := 0
	for i, p := range parts {
		log, _, _ := c[i].evaluate(w.tilt)
		log /= float64(rounds[i]) // any number would do: what is taken away here is put back by scale
		c, m := p.tiltTo(points, w, log)
		circles = append(circles, c)
		all.add(m, float64(rounds[i]))
		d.lost += float64(rounds[i]) * p.lost
		longest = max(longest, len(p.mass))
	}
	length := float64(points) * step
	d.scale = math.Exp(all.log - w.tilt*d.centre)
	if !(d.scale > 1e-290 && !math.IsInf(d.scale, 1)) {
		return nil, fault.New("Delta", nil, "is too small")
	}
	d.slack = math.Expm1(total*(2*massError+8*unit*(all.largest+4)) + 8*unit*(all.size+math.Abs(w.tilt*d.centre)+
		float64(points)+math.Abs(w.tilt)*length))
	sums := total * (unit*float64(2*longest) + 4*massError) // relative error of moments
	around, below := all.around-w.around.tilt*(d.centre+length), all.below-w.below.tilt*d.bottom
	d.outside = math.Exp(around+sums) + math.Exp(below+sums)
	d.lost += math.Exp(all.above - w.above.tilt*(d.bottom+length-step) + sums)
	if !above && d.isDrowned(points) {
		return nil, errDrowned
	}
	s := newSpectrum(points)
	for i, c := range circles {
		s.include(c, rounds[i])
	}
	s.turn(int64(first))
	d.tilted, d.err = s.invert()
	d.shift = total * (8*massError*step + 64*unit)
	return d, nil
}

// errDrowned is why there is no lower curve.
var errDrowned = errors.New("pld: what may have come around the circle is more than all mass at every loss")

// isDrowned reports whether a lower curve would be below 0 everywhere: no δ is above 1.
func (d *composedLoss) isDrowned(points int) bool {
	end := float64(points-d.zone) * d.step
	return math.Log(d.scale)+math.Log(d.outside)+math.Log(d.largestWeight(points))-math.Max(d.tilt*end, 0) > 1
}

// tiltedMoments are logarithms of moments of a lattice's measure with a window's additional tilts.
type tiltedMoments struct {
	above, around, below float64
	log, size            float64 // logarithm taken away from the measure; its magnitude
	largest              float64 // exponent
}

func (m *tiltedMoments) add(o tiltedMoments, rounds float64) {
	m.above += rounds * o.above
	m.around += rounds * o.around
	m.below += rounds * o.below
	m.log += rounds * o.log
	m.size += rounds * math.Abs(o.log)
	m.largest = math.Max(m.largest, o.largest)
}

// tiltTo returns a lattice's measure times e^{tilt·loss - log}, on a circle.
func (l lossLattice) tiltTo(points int, w window, log float64) (circle, tiltedMoments) {
	c := circle{dense: make([]float64, points)}
	loss := func(k int) float64 { return float64(l.at[k])*l.step + l.offset }
	first, last := loss(0), loss(len(l.at)-1)
	above, around, below := newMoment(w.above.tilt, first, last), newMoment(w.around.tilt, first, last),
		newMoment(w.below.tilt, first, last)
	largest := 0.0
	for k, m := range l.mass {
		if !(m > 0) {
			continue
		}
		at := mod(int64(l.at[k]), points)
		exponent := w.tilt*loss(k) - log
		v := m * math.Exp(exponent)
		c.dense[at] += v
		c.at, c.mass = append(c.at, at), append(c.mass, v)
		largest = math.Max(largest, math.Abs(exponent))
		above.add(m, loss(k))
		around.add(v, loss(k))
		below.add(v, loss(k))
	}
	return c, tiltedMoments{above.log(), around.log(), below.log(), log, 0, largest}
}

// A moment is Σ mass·e^{tilt·loss}, of masses without overflow, and not less where terms underflow.
type moment struct{ tilt, shift, sum float64 }

func newMoment(tilt, first, last float64) moment {
	return moment{tilt, math.Max(tilt*first, tilt*last), 0}
}

func (m *moment) add(mass, loss float64) { m.sum += mass*math.Exp(m.tilt*loss-m.shift) + 1e-300 }

func (m moment) log() float64 { return m.shift + math.Log(m.sum) }
