package workload

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// keptFloats is the room for matrices R_l that are kept at a time: 256 MB.
const keptFloats = 1 << 25

// periodic is a changing network whose laws come again after some steps, so that Φ(l'-1, l) = E[W_(l'-1)] … E[W_l] is
// the same for all l that are a multiple of the period apart: it goes up from as many steps as that, and meets all R_l'
// on the way, as many of which are kept as there is room for.
type periodic struct {
	*changing
	sq     *squares
	period int
	kept   int // matrices R
}

func (c *changing) newPeriodic(sq *squares) *periodic {
	period := len(sq.laws)
	for period%c.localSteps() != 0 { // the least common multiple
		period += len(sq.laws)
	}
	return &periodic{c, sq, period, max(1, keptFloats/(sq.n*sq.n))}
}

// products returns how many products with E[W] it takes.
func (p *periodic) products() int {
	total := 0
	for to := p.steps; to > 0; to -= p.kept {
		for first := range min(p.period, to) {
			total += to - first
		}
	}
	return total
}

func (p *periodic) gram(ctx context.Context, progress func(done, total int)) (*mat.SymDense, error) {
	h := mat.NewSymDense(p.steps, nil)
	next := p.backward()
	for to := p.steps; to > 0; to -= p.kept {
		from := max(0, to-p.kept)
		rs := make([][]float64, to-from)
		for l := to - 1; l >= from; l-- {
			rs[l-from] = next(l)[0]
		}
		tasks := min(p.period, to)
		parts := max(1, 8/tasks) // of the columns, for networks that come again soon
		sums := lists.Make(parts, func(int) *mat.SymDense { return mat.NewSymDense(p.steps, nil) })
		parallel.For(tasks*parts, func(i int) {
			if ctx.Err() == nil {
				p.ascend(sums[i%parts], rs, from, climb{i / parts, i % parts, parts})
			}
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for _, sum := range sums {
			h.AddSym(h, sum)
		}
		if progress != nil {
			progress(p.steps-from, p.steps)
		}
	}
	for later := range p.steps {
		ratio := 1.0
		for l := later; l >= 0; l-- {
			h.SetSym(l, later, ratio*h.At(l, later))
			ratio *= p.factor(l, later)
		}
	}
	p.settle(h, p.total)
	return h, nil
}

// climb is a way up through the steps: from which of the first ones, and with which columns.
type climb struct{ first, part, parts int }

// ascend adds ⟨Φ(l'-1, l), R_l'⟩ to sum for all l that are multiples of the period above the first step, and all R_l'
// from step from on.
func (p *periodic) ascend(sum *mat.SymDense, rs [][]float64, from int, c climb) {
	n := p.sq.n
	panel, room := make([]float64, n*panelWidth), make([]float64, n*panelWidth)
	for column := c.part * panelWidth; column < n; column += c.parts * panelWidth {
		width := min(panelWidth, n-column)
		panel, room = panel[:n*width], room[:n*width]
		clear(panel)
		for i := range width {
			panel[(column+i)*width+i] = 1
		}
		for d := 0; c.first+d < from+len(rs); d++ {
			for l := c.first; l+d < from+len(rs); l += p.period {
				if l+d < from {
					continue
				}
				r := rs[l+d-from]
				var dot float64
				for i := range n {
					dot += floats.Dot(panel[i*width:(i+1)*width], r[i*n+column:i*n+column+width])
				}
				sum.SetSym(l, l+d, sum.At(l, l+d)+dot)
			}
			t := c.first + d
			for range p.roundsAfter(t) {
				p.sq.means[t%len(p.sq.means)].MulMatTo(room, panel, width)
				panel, room = room, panel
			}
		}
		panel, room = panel[:cap(panel)], room[:cap(room)]
	}
}
