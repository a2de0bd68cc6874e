package threat

import (
	"gonum.org/v1/gonum/floats"

	"mafalda/strategy"
)

// layout says which numbers a node keeps between two rounds, beside each other: all that the optimizer holds
// (workload.State), the model first; rows of noise that were not sent; and the memory of its noise's filter.
type layout struct {
	course *course
	filter strategy.Filter // nil: independent noise

	waiting, memory int // positions; 0, which is the model's, for none
	sent, size      int // how many numbers are sent, the first ones, and how many there are
}

func (c *course) layout(f strategy.Filter) *layout {
	node := c.spec.Lone(1, 0)
	l := &layout{course: c, filter: f, sent: len(node.Sent()), size: len(node.Memory())}
	place := func(at *int, there bool, numbers int) {
		if there {
			*at = l.size
			l.size += numbers
		}
	}
	place(&l.waiting, c.spec.Carry, 1)
	if f != nil {
		place(&l.memory, f.Memory() > 0, f.Memory())
	}
	return l
}

// step returns what a node makes of its numbers ℓ, its gradient g and its white noise z in step t, before it sends
// anything: rows of coefficients of (ℓ, g, z). Signs are as in -θ.
func (l *layout) step(t int, misses bool) [][]float64 {
	width := l.size + 2
	now := l.still()
	z, noise, input := make([]float64, width), make([]float64, width), make([]float64, width)
	z[l.size+1] = 1
	if l.filter != nil {
		kept := now[:0]
		if l.memory > 0 {
			kept = now[l.memory:]
		}
		l.filter.StepTo(noise, z, kept, t)
	} else {
		copy(noise, z)
	}
	if l.waiting > 0 {
		floats.Add(noise, now[l.waiting])
		now[l.waiting] = make([]float64, width)
	}
	switch {
	case !misses:
		copy(input, noise)
		input[l.size]++
	case l.waiting > 0:
		now[l.waiting] = noise
	}
	node := l.course.spec.Lone(l.course.rates[t], width)
	for p, held := range node.Memory() {
		copy(held, now[p])
	}
	floats.Scale(-1, node.Models())
	node.Descend(input, nil)
	floats.Scale(-1, node.Models())
	copy(now, node.Memory())
	return now
}

// still is step where nothing happens.
func (l *layout) still() [][]float64 {
	now := make([][]float64, l.size)
	for p := range now {
		now[p] = make([]float64, l.size+2)
		now[p][p] = 1
	}
	return now
}
