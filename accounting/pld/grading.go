package pld

import (
	"math"
	"slices"
)

// grade chooses the nodes of one round's losses, multiples of step, from below to above both ends. Where few losses
// lie, under P and at the saddle that counts, bins are wider: what a bin adds to the variance is its mass times the
// square of its width.
func (c cumulants) grade(ends [2]float64, step, rounds float64, at saddle) (nodes []int, ok bool) {
	up, down := c.tails(math.Max(at.tilt, 0)), c.tails(0)
	low, high := math.Floor(math.Min(ends[0], ends[1])/step)-1, math.Ceil(math.Max(ends[0], ends[1])/step)+1
	if math.Abs(low) > 1<<31 || math.Abs(high) > 1<<31 {
		return nil, false
	}
	_, mean, _ := c.evaluate(0)
	centre := int(math.Min(math.Max(math.Round(mean/c.rounds/step), low), high))
	most := math.Max(0.2/(1+math.Max(at.tilt, 0))/step, 1)
	// stretch returns the width of a bin at a loss, where a given mass lies at it and beyond. Where few large losses
	// decide, a step for all rounds is one for each of them; those far above ε count as a whole.
	stretch := func(loss, mass float64) int {
		cap := math.Max(math.Sqrt(rounds)/2, 0.03*(loss-math.Max(at.epsilon, 0))/step)
		return max(1, int(min(tailWidth/math.Sqrt(mass+1e-30), cap, most)))
	}
	for node := centre; node > int(low) && len(nodes) <= maxNodes; {
		loss := float64(node) * step
		node -= stretch(loss, down.massBelow(loss))
		nodes = append(nodes, node)
	}
	slices.Reverse(nodes)
	for node := centre; ; {
		nodes = append(nodes, node)
		if node >= int(high) || len(nodes) > maxNodes {
			break
		}
		loss := float64(node) * step
		node += stretch(loss, up.massAbove(loss))
	}
	return nodes, len(nodes) <= maxNodes
}

// maxNodes bounds the work for one event.
const maxNodes = 1 << 18

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
	log, _, _ := c.evaluate(tilt)
	log /= c.rounds
	t := lossTails{make([]float64, len(order)), make([]float64, len(order))}
	sum := 0.0
	for i, k := range order {
		sum += math.Exp(tilt*c.loss[k] + c.logWeight[k] - log)
		t.loss[i], t.mass[i] = c.loss[k], sum
	}
	return t
}

// massBelow returns about the mass of losses up to l, rather more.
func (t lossTails) massBelow(l float64) float64 {
	i, _ := slices.BinarySearch(t.loss, l)
	return t.mass[min(i, len(t.mass)-1)]
}

// massAbove returns about the mass of losses from l on, rather more.
func (t lossTails) massAbove(l float64) float64 {
	i, _ := slices.BinarySearch(t.loss, l)
	all := t.mass[len(t.mass)-1]
	if i < 2 {
		return all
	}
	return math.Max(all-t.mass[i-2], 0)
}
