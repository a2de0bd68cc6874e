package accounting

import (
	"math"
	"slices"
)

// grade chooses the nodes of one round's losses, multiples of step, from below to above both ends. Where few losses lie, under P and under the tilt that
// counts, bins are wider: what a bin adds to the variance is its mass times the square of its width.
func (c cumulants) grade(ends [2]float64, step, tilt, rounds float64) (nodes []int, ok bool) {
	up, down := c.tails(math.Max(tilt, 0)), c.tails(0)
	low, high := math.Floor(math.Min(ends[0], ends[1])/step)-1, math.Ceil(math.Max(ends[0], ends[1])/step)+1
	if math.Abs(low) > 1<<31 || math.Abs(high) > 1<<31 {
		return nil, false
	}
	_, mean, _ := c.at(0)
	centre := int(math.Min(math.Max(math.Round(mean/c.rounds/step), low), high))
	// Where few large losses decide, a step for all rounds is one for each of them.
	most := math.Max(math.Min(0.2/(1+math.Max(tilt, 0))/step, math.Sqrt(rounds)/2), 1)
	// stretch returns the width of a bin where so much mass lies at its loss and beyond.
	stretch := func(mass float64) int {
		return max(1, int(math.Min(tailWidth/math.Sqrt(mass+1e-30), most)))
	}
	if high-low > maxBins && tailWidth*most < 2 {
		return nil, false
	}
	for at := centre; at > int(low); {
		at -= stretch(down.below(float64(at) * step))
		nodes = append(nodes, at)
	}
	slices.Reverse(nodes)
	for at := centre; ; {
		nodes = append(nodes, at)
		if at >= int(high) || len(nodes) > maxBins {
			break
		}
		at += stretch(up.above(float64(at) * step))
	}
	return nodes, len(nodes) <= maxBins
}

// tailWidth is the width of a bin, in steps, where all mass lies beyond. Small: the sum over all tails must not count.
const tailWidth = 0.1

// lossTails are the losses of a quadrature in order with the cumulated masses.
type lossTails struct{ loss, mass []float64 }

func (c cumulants) tails(tilt float64) lossTails {
	order := make([]int, len(c.loss))
	for i := range order {
		order[i] = i
		if c.loss[0] > c.loss[len(c.loss)-1] {
			order[i] = len(c.loss) - 1 - i
		}
	}
	log, _, _ := c.at(tilt)
	log /= c.rounds
	t := lossTails{make([]float64, len(order)), make([]float64, len(order))}
	sum := 0.0
	for i, k := range order {
		sum += math.Exp(tilt*c.loss[k] + c.logWeight[k] - log)
		t.loss[i], t.mass[i] = c.loss[k], sum
	}
	return t
}

// below returns about the mass of losses up to l, rather more.
func (t lossTails) below(l float64) float64 {
	i, _ := slices.BinarySearch(t.loss, l)
	return t.mass[min(i, len(t.mass)-1)]
}

// above returns about the mass of losses from l on, rather more.
func (t lossTails) above(l float64) float64 {
	i, _ := slices.BinarySearch(t.loss, l)
	all := t.mass[len(t.mass)-1]
	if i < 2 {
		return all
	}
	return math.Max(all-t.mass[i-2], 0)
}
