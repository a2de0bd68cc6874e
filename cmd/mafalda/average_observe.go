package main

import (
	"context"
	"slices"
	"sync"

	"mafalda/internal/cli"
	"mafalda/internal/parallel"
	"mafalda/protocols/ppac"
)

// observed is what one coalition learns.
type observed struct {
	coalition []int
	view      *ppac.View
	leaks     []ppac.Leakage
}

// observe computes what every coalition learns of the victims (nil: all), on all processors.
func (a *ppacAveraging) observe(ctx context.Context, coalitions [][]int, victims []int, bar *cli.Progress) ([]observed, error) {
	all := make([]observed, len(coalitions))
	ctx, cancel := context.WithCancelCause(ctx) // the first that fails ends the others
	defer cancel(nil)
	var mu sync.Mutex
	done := 0
	parallel.For(len(coalitions), func(i int) {
		if ctx.Err() != nil {
			return
		}
		o := observed{coalition: coalitions[i]}
		var err error
		if o.view, err = a.protocol.View(ctx, o.coalition, a.flags.upTo()); err != nil {
			cancel(err)
			return
		}
		leaks, err := o.view.Leakages(ctx, ppac.Uniform(a.flags.valueStd, a.noise))
		if err != nil {
			cancel(err)
			return
		}
		for _, l := range leaks {
			if victims == nil || slices.Contains(victims, l.Victim) {
				o.leaks = append(o.leaks, l)
			}
		}
		all[i] = o
		mu.Lock()
		defer mu.Unlock()
		done++
		bar.Show(float64(done)/float64(len(coalitions)), "observers")
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, nil
}
