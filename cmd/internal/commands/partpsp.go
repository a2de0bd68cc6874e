package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/parallel"
	"mafalda/simulate"
)

type partFlags struct {
	o simulate.PartPSPOptions
	outcomeFlags
}

// partError marks errors of preparing, but for Ctrl-C, as errors of usage.
func partError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return terminal.Usage(err)
}

func (f *partFlags) run(cmd *cobra.Command) (err error) {
	o := f.o
	if len(o.Networks) == 0 || len(o.Shared) == 0 {
		return terminal.Usagef("--networks and --shared: nothing to train")
	}
	if err := o.Check(); err != nil {
		return partError(err)
	}
	p, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) (*simulate.PartPSP, error) {
		return simulate.NewPartPSP(ctx, o)
	})
	if err != nil {
		return partError(err)
	}
	return f.produce(cmd, "partpsp", nil, func(ctx context.Context, bar *terminal.Progress) (outcome, error) {
		p.Progress = showing(bar, "runs")
		cells, err := p.Train(ctx)
		if errors.Is(err, simulate.ErrData) {
			err = terminal.Usage(err)
		}
		if err != nil {
			return outcome{}, err
		}
		result := p.Result(cells)
		return outcome{data: result, says: results.PartPSPDocument(p, result, o.Plan.Source),
			pictures: func(ctx context.Context) (figures.Pictures, error) {
				curves, err := p.Curves(ctx, o.Plan, showing(bar, "figures"))
				return figures.PartPSP(curves), err
			}}, nil
	})
}
