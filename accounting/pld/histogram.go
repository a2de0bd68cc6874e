package pld

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// A lossHistogram is the distribution of one round's loss under P. Bin i holds the losses from nodes[i]·step, its
// lower node, to nodes[i+1]·step, its upper node. Its mass is given in the two parts into which it is divided between
// those nodes so that the masses under P and under Q both stay what they are: in a bin of some width, of a loss t
// above the lower node the fraction (e^{width-t} - 1)/(e^{width} - 1) goes to the lower node and the rest to the
// upper one.
//
// Computed masses equal the exact distribution's up to the relative error massError.
type lossHistogram struct {
	step         float64
	nodes        []int
	lower, upper []float64
	below, above float64 // bounds of the mass that is left out at either end
	belowNode    int     // index of a node that is not under the losses at the low end
}

// massError bounds the relative error of every mass of a histogram: quadrature, exponentials and logarithms. Tests hold
// it against arithmetic with more digits.
const massError = 1e-12

// width returns the width of bin i.
func (h lossHistogram) width(i int) float64 { return float64(h.nodes[i+1]-h.nodes[i]) * h.step }

// histogram bins P's losses between two outcomes, whose losses lie within the nodes. Step has few enough bits for
// multiples of it to be exact.
func (p lossPair) histogram(from, to, step float64, nodes []int) lossHistogram {
	n := len(nodes) - 1
	h := lossHistogram{step: step, nodes: nodes, lower: make([]float64, n), upper: make([]float64, n)}
	if p.add {
		h.above, h.below = normalTail(-from/p.s), normalTail(to/p.s)
	} else {
		h.above, h.below = normalTail((to-1)/p.s), normalTail(-from/p.s)
	}
	cut := math.Min(p.loss(from), p.loss(to))
	for cut+1e-12*math.Abs(cut) > float64(nodes[h.belowNode])*step {
		h.belowNode++
	}
	few, more, panel := newBinRule(6), newBinRule(10), newBinRule(12)
	for i := range n {
		node, width := float64(nodes[i])*step, h.width(i)
		least := node // of L
		if p.add {
			least = -node - width
		}
		x, end := math.Max(p.outcome(least), from), math.Min(p.outcome(least+width), to)
		g := p.stretch(least)
		bent := width * g * math.Max(1, (2+math.Max(math.Abs(x), math.Abs(end)))/4)
		wide := p.s * g * width
		inside := x > from && end < to
		switch {
		case inside && bent < 1./16 && wide < 0.1:
			h.lower[i], h.upper[i] = few.byLoss(p, least, width)
		case inside && bent < 1./4 && wide < 0.4:
			h.lower[i], h.upper[i] = more.byLoss(p, least, width)
		case x < end:
			h.lower[i], h.upper[i] = panel.byOutcome(p, [2]float64{x, end}, [2]float64{node, float64(nodes[i+1]) * step})
		}
	}
	return h
}

// normalTail bounds 1-Φ(x) from above, closely.
func normalTail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 * (1 + 1e-9) }

// A binRule integrates over a bin with Gauss and Legendre's points on [0, 1].
type binRule struct{ at, weight []float64 }

func newBinRule(points int) binRule {
	r := binRule{at: make([]float64, points), weight: make([]float64, points)}
	quad.Legendre{}.FixedLocations(r.at, r.weight, 0, 1)
	return r
}

// share splits a unit of mass between the two nodes of a bin, by the distances of its loss above the lower node and below
// the upper one. The caller gives both distances, since neither is exact as the difference of width and a large other one.
func share(above, below, width float64) (lower, upper float64) {
	above, below = math.Min(math.Max(above, 0), width), math.Min(math.Max(below, 0), width)
	return math.Expm1(below) / math.Expm1(width), math.Expm1(-above) / math.Expm1(-width)
}

// byLoss integrates the density of L over the bin of L that begins at least.
func (r binRule) byLoss(p lossPair, least, width float64) (lower, upper float64) {
	for k, at := range r.at {
		t := at * width
		v := p.lossDensity(least+t) * r.weight[k] * width
		if p.add {
			t = width - t // the loss falls with L
		}
		a, b := share(t, width-t, width)
		lower += v * a
		upper += v * b
	}
	return lower, upper
}

// byOutcome integrates over an interval of outcomes, whose losses lie in the bin between two nodes.
func (r binRule) byOutcome(p lossPair, x, nodes [2]float64) (lower, upper float64) {
	cuts := p.panels(x[0], x[1])
	for i := range len(cuts) - 1 {
		length := cuts[i+1] - cuts[i]
		for k, t := range r.at {
			at := cuts[i] + t*length
			v := p.density(at) * r.weight[k] * length
			loss := p.loss(at)
			a, b := share(loss-nodes[0], nodes[1]-loss, nodes[1]-nodes[0])
			lower += v * a
			upper += v * b
		}
	}
	return lower, upper
}
