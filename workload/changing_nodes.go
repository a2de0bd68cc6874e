package workload

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// nodeGrams calls visit with the G_i of every node in order, whose sum is gram's result. It keeps all R_l.
func (c *changing) nodeGrams(ctx context.Context, visit func(i int, h *mat.SymDense) error) error {
	if size := c.of.size() * c.steps; size > nodeFloats {
		return fmt.Errorf("Gram matrices of single nodes of a network that changes, %d numbers: %w", size, ErrNotExact)
	}
	n := c.nodes
	all := make([][][]float64, c.steps)
	next := c.backward()
	for l := c.steps - 1; l >= 0; l-- {
		all[l] = next(l)
	}
	for from := 0; from < n; from += panelWidth {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		grams := lists.Make(min(panelWidth, n-from), func(int) *mat.SymDense { return mat.NewSymDense(c.steps, nil) })
		parallel.For(c.steps, func(later int) {
			c.of.descendWith(all[later], from, len(grams), c.path(later), func(l int, diagonals [][]float64) {
				for i, h := range grams {
					h.SetSym(l, later, c.entry(l, func(k int) float64 { return diagonals[k][i] }))
				}
			})
		})
		for i, h := range grams {
			c.settle(h, func(v []float64) float64 { return v[(from+i)%len(v)] })
			if err := visit(from+i, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeGrams calls visit with the sums of the G_i.
func (c changings) nodeGrams(ctx context.Context, visit func(i int, h *mat.SymDense) error) error {
	if len(c) == 1 {
		return c[0].nodeGrams(ctx, visit)
	}
	all := make([]*mat.SymDense, c[0].nodes)
	for _, one := range c {
		err := one.nodeGrams(ctx, func(i int, h *mat.SymDense) error {
			if all[i] != nil {
				h.AddSym(h, all[i])
			}
			all[i] = h
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, h := range all {
		if err := visit(i, h); err != nil {
			return err
		}
	}
	return nil
}

// nodeFloats is the room for all R_l at once: 1 GB.
const nodeFloats = 1 << 27
