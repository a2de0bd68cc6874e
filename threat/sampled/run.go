package sampled

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"mafalda/participation"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
	"mafalda/strategy"
)

// sampledRun runs a mechanism with secret batches again and again.
type sampledRun struct {
	columns columns
	filter  strategy.Filter // filter of the noise that the nodes really add
	attack  attack
	std     float64 // standard deviation of Z, as the nodes really have it
	runs    int
	seeds   *rand.Rand
	made    func(runs int) // if not nil, is told of runs that have been made, from several goroutines
}

// together is how many runs are made side by side: a row a step has as many numbers.
const together = 64

// logRatios returns the attacker's statistic for each run, with the record or without.
func (r *sampledRun) logRatios(ctx context.Context, with bool) ([]float64, error) {
	out := make([]float64, r.runs)
	seeds := make([][2]uint64, (r.runs+together-1)/together)
	for i := range seeds {
		seeds[i] = [2]uint64{r.seeds.Uint64(), r.seeds.Uint64()}
	}
	errs := make([]error, len(seeds))
	parallel.For(len(seeds), func(i int) {
		if ctx.Err() != nil {
			return
		}
		part := out[i*together : min((i+1)*together, r.runs)]
		errs[i] = r.logRatiosTo(part, seeds[i], with)
		if r.made != nil {
			r.made(len(part))
		}
	})
	return out, cmp.Or(context.Cause(ctx), errors.Join(errs...))
}

// logRatiosTo makes as many runs as dst has places.
func (r *sampledRun) logRatiosTo(dst []float64, seed [2]uint64, with bool) error {
	messages, steps, err := r.messages(seed, len(dst), with)
	if err != nil {
		return err
	}
	seen := rows(len(messages), len(dst))
	r.columns.multiplyTo(seen, messages)
	of := make([]float64, len(seen))
	for i := range dst {
		for t := range seen {
			of[t] = seen[t][i]
		}
		if r.attack.knownRatio != nil {
			dst[i] = r.attack.knownRatio(of, steps[i])
		} else {
			dst[i] = r.attack.logRatio(of)
		}
	}
	return nil
}

// messages returns what the nodes send, a row a step and a column a run: what the record, or the one in its place, and
// others contribute if it takes part, and the noise; and, if the attacker knows them, the steps that are drawn in every
// run. All else is known to the attacker.
func (r *sampledRun) messages(seed [2]uint64, width int, with bool) (messages [][]float64, steps [][]int, err error) {
	rng := rand.New(rand.NewPCG(seed[0], seed[1]))
	messages = rows(len(r.columns), width)
	kept := make([][]float64, r.filter.Memory())
	z := make([]float64, width)
	for t := range messages {
		for i := range z {
			z[i] = r.std * rng.NormFloat64()
		}
		r.filter.StepTo(messages[t], z, kept, t)
	}
	contributed, known := r.attack.without, r.attack.knownRatio != nil
	if with {
		contributed = r.attack.with
	}
	if contributed == 0 && !known {
		return messages, nil, nil
	}
	steps = make([][]int, width)
	key := participation.SeededKey(seed[0], strconv.FormatUint(seed[1], 16))
	err = r.attack.draw(key, width, func(step, run int) {
		messages[step][run] += contributed
		if known {
			steps[run] = append(steps[run], step)
		}
	})
	return messages, steps, err
}

func rows(count, width int) [][]float64 {
	all := make([]float64, count*width)
	out := make([][]float64, count)
	for t := range out {
		out[t], all = all[:width:width], all[width:]
	}
	return out
}

// noisingFilter returns the strategy's own filter, or one that multiplies by another matrix.
func noisingFilter(c strategy.Strategy, noising mat.Matrix) (strategy.Filter, error) {
	if noising == nil {
		return c.Filter()
	}
	return multiplication{noising}, nil
}

// multiplication is a filter that keeps all rows of Z.
type multiplication struct{ by mat.Matrix }

func (m multiplication) Steps() int {
	steps, _ := m.by.Dims()
	return steps
}

func (m multiplication) Memory() int { return m.Steps() }

func (m multiplication) StepTo(dst, z []float64, kept [][]float64, t int) {
	kept[t] = append(kept[t][:0], z...)
	clear(dst)
	for s := range t + 1 {
		floats.AddScaled(dst, m.by.At(t, s), kept[s])
	}
}
