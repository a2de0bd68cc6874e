package threat

import (
	"gonum.org/v1/gonum/floats"

	"mafalda/strategy"
)

// layout says which numbers a node keeps between two rounds, beside each other: its model; its momentum; its tracker
// and the last noisy gradient; rows of noise that were not sent; and the memory of its noise's filter.
type layout struct {
	course *course
	filter strategy.Filter // nil: independent noise

	momentum, tracker, before, waiting, memory int // positions; 0, which is the model's, for none
	size                                       int
}

func (c *course) layout(f strategy.Filter) *layout {
	l := &layout{course: c, filter: f, size: 1}
	place := func(at *int, there bool, numbers int) {
		if there {
			*at = l.size
			l.size += numbers
		}
	}
	place(&l.momentum, c.spec.Momentum > 0, 1)
	place(&l.tracker, c.spec.GradientTracking, 1)
	place(&l.before, c.spec.GradientTracking, 1)
	place(&l.waiting, c.spec.Carry, 1)
	if f != nil {
		place(&l.memory, f.Memory() > 0, f.Memory())
	}
	return l
}

// gossiped returns the positions of what is sent.
func (l *layout) gossiped() []int {
	if l.tracker > 0 {
		return []int{0, l.tracker}
	}
	return []int{0}
}

// step returns what a node makes of its numbers ℓ, its gradient g and its white noise z in step t, before it sends
// anything: rows of coefficients of (ℓ, g, z). Signs are as in -θ.
func (l *layout) step(t int, misses bool) [][]float64 {
	c, spec, width := l.course, l.course.spec, l.size+2
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
	direction := input
	if l.tracker > 0 {
		floats.Add(now[l.tracker], input)
		floats.Sub(now[l.tracker], now[l.before])
		now[l.before], direction = input, now[l.tracker]
	}
	eta, model := c.rates[t], now[0]
	floats.Scale(c.keep[t], model)
	if l.momentum > 0 {
		m := now[l.momentum]
		floats.Scale(spec.Momentum, m)
		floats.Add(m, direction)
		if spec.Nesterov {
			floats.AddScaled(model, eta*spec.Momentum, m)
		} else {
			direction = m
		}
	}
	floats.AddScaled(model, eta, direction)
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
