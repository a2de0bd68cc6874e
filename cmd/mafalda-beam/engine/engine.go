package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
)

// Engine runs grids as Beam pipelines: it is a grids.Engine.
type Engine struct {
	Runner  string // a name that Beam knows
	Address string // host:port where workers reach this program; port 0 is any that is free
	Jobs    int    // number of pipelines at the same time, for runners that give each of them one worker; 0 means 1
}

// Compute runs the pipeline, and ends with it, or soon after ctx: workers that come later find that nothing is
// wanted any more, or no desk.
func (e *Engine) Compute(ctx context.Context, g *grids.Grid) error {
	content, hash, err := pack(g)
	if err != nil {
		return terminal.Usage(err)
	}
	d, err := openDesk(ctx, e.Address, content, g)
	if err != nil {
		return terminal.Usagef("no place for workers to bring results to: %w", err)
	}
	defer d.close()
	f := &computeFn{Desk: errand{d.url, d.token}, Job: hash}
	parts := e.deal(g.Cells)
	ends := make(chan error, len(parts))
	for _, cells := range parts {
		go func() { ends <- e.run(ctx, f, cells) }()
	}
	for range parts {
		select {
		case failed := <-ends:
			if err == nil {
				err = failed
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if failed := d.outcome(); failed != nil {
		return failed
	}
	return err
}

// deal deals cells to jobs.
func (e *Engine) deal(cells []json.RawMessage) [][]string {
	n := max(1, min(e.Jobs, len(cells)))
	parts := make([][]string, n)
	for i, c := range cells {
		parts[i%n] = append(parts[i%n], string(c))
	}
	return parts
}

// run runs one pipeline. The cells are reshuffled, so that a runner may spread them over its workers.
func (e *Engine) run(ctx context.Context, f *computeFn, cells []string) error {
	p, s := beam.NewPipelineWithRoot()
	done := beam.ParDo(s.Scope("compute"), f, beam.Reshuffle(s, beam.CreateList(s.Scope("cells"), cells)))
	beam.ParDo0(s.Scope("end"), forget, beam.Reshuffle(s, done))
	if _, err := beam.Run(ctx, e.Runner, p); err != nil {
		return fmt.Errorf("%s: %w", e.Runner, err)
	}
	return nil
}
