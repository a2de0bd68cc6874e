package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/secrets"
	"mafalda/strategy"
)

// Methods that are neither baselines nor exports.
const (
	None     = "none"             // no noise
	Ignorant = "mafalda-plain"    // the certified optimum of the network for plain training
	Uncurved = "mafalda-uncurved" // the certified optimum of the network for the configuration's training
	Mafalda  = "mafalda"          // the same, for gradients that answer to errors as the task's do
)

// MethodNames are the methods that are no folders of exports.
func MethodNames() []string {
	return slices.Concat([]string{None}, baselines.Names(), []string{Ignorant, Uncurved, Mafalda, DECOR, Secrets})
}

// method is a row of the comparison.
type method struct {
	name        string       // name, as in StudyOptions.Methods
	export      string       // digest of its files, if it is a folder
	against     string       // who is curious, for an export whose nodes share noise
	correlation *Correlation // nil until it is needed, but of exports

	// The fields below are for batches that are drawn in secret.
	said     *export.Manifest         // what an export for such batches says; nil: nothing
	strategy strategy.Strategy        // an export's strategy, for bins
	drawn    map[float64]*secretNoise // noise by ε, as far as it was needed
}

// checkMethods rejects names that are neither known methods nor folders.
func (o StudyOptions) checkMethods() error {
	for _, name := range o.Methods {
		if slices.Contains(MethodNames(), name) {
			continue
		}
		if _, err := os.Stat(o.folder(name)); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("method %q is none of %s, nor a folder", name, strings.Join(MethodNames(), ", "))
		}
	}
	return nil
}

// folder returns the path of an export among the methods.
func (o StudyOptions) folder(name string) string { return cmp.Or(o.Folders[name], name) }

// chooseMethods reads exports, and knows the others by their names.
func (s *Study) chooseMethods() error {
	exports := map[string]*export.Export{}
	for _, name := range s.options.Methods {
		if slices.Contains(MethodNames(), name) || exports[name] != nil {
			continue
		}
		e, err := export.Load(s.options.folder(name))
		if err == nil {
			err = e.CheckHashes()
		}
		if err != nil {
			return err
		}
		exports[name] = e
	}
	if err := s.adopt(exports); err != nil {
		return err
	}
	for _, name := range s.options.Methods {
		if slices.ContainsFunc(s.methods, func(m *method) bool { return m.name == name }) {
			continue
		}
		m := method{name: name}
		if e := exports[name]; e != nil {
			var err error
			if m, err = s.exported(name, e); err != nil {
				return err
			}
		}
		m.drawn = map[float64]*secretNoise{}
		s.methods = append(s.methods, &m)
	}
	return nil
}

// methodOf returns the index of the method of a cell, -1 if it is not of this study.
func (s *Study) methodOf(c Cell) int {
	return slices.IndexFunc(s.methods, func(m *method) bool { return m.name == c.Method && m.export == c.Export })
}

// correlation makes the correlation of one of MethodNames, for batches in turn. Baselines know the optimizer, and no network.
func (s *Study) correlation(ctx context.Context, name string) (*Correlation, error) {
	var c strategy.Strategy = strategy.Identity(s.config.Schema.Steps())
	var noise *secrets.Noise
	var err error
	switch {
	case name == DECOR:
		noise, err = s.constantNoise(ctx, c)
	case slices.Contains(baselines.Names(), name):
		c, err = baselines.NewFor(ctx, name, s.config.trained(), s.config.Schema)
	default:
		var of *plan.Solution
		if of, err = s.solve(ctx, name, 0); err != nil {
			break
		}
		if c = of.Strategy(); of.Space != nil {
			noise = of.Space.Noise
		}
	}
	if err != nil {
		return nil, err
	}
	made, err := NewCorrelation(s.network.Graph.Nodes(), Shared(c), s.config.Schema)
	if err != nil || noise == nil {
		return made, err
	}
	return made.WithShared(noise)
}

// Gaps of strategies for more than plain training, whose last digits take long where rates are close to 0.
const (
	trainedGap = 1e-4 // that searches stop at
	enoughGap  = 1e-3 // of a search that ended before: far less than what seeds make of a loss
)

// problem returns what a method is the optimum for.
func (s *Study) problem(name string) plan.Problem {
	p := plan.Problem{Network: s.network, Workload: s.config.trained(), Schema: s.config.Schema, Gram: plan.Gram{Probes: estimateProbes}}
	switch name {
	case Mafalda:
		p.Curvature = s.curvature()
	case Ignorant:
		still := *s.network
		still.Sequence = nil
		p.Network, p.Workload = &still, p.Workload.Plain()
	}
	return p
}

// solve returns the optimum of a method: at an ε, where batches are drawn in secret.
func (s *Study) solve(ctx context.Context, name string, epsilon float64) (*plan.Solution, error) {
	p, o := s.problem(name), plan.Options{Class: factorize.Dense{}, NoBaselines: true}
	switch {
	case name == Secrets:
		var err error
		if p.Sharing, err = new(plan.Sharing).Resolve(s.network); err != nil {
			return nil, err
		}
		p.Gram = plan.Gram{}
	case !p.Workload.HasFreeNoise(p.Schema.Steps()) && (name == Mafalda || !p.Workload.IsPlain()):
		o.Tolerance = trainedGap
	}
	if scheme := s.scheme(); scheme.Of != participation.InTurn {
		o.Sampling, o.Batches, o.MonteCarlo = scheme.Of, scheme.Batches, s.options.MonteCarlo
		o.Class = factorize.Banded{Bandwidth: s.options.Bandwidth}
		o.Privacy = &plan.Privacy{Target: accounting.Target{Epsilon: epsilon, Delta: s.options.Delta}}
	}
	of, err := plan.Solve(ctx, p, o)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case of.Ending.Status != optim.Converged && of.Ending.Gap > enoughGap:
		return nil, fmt.Errorf("%v with a gap of %.2g", of.Ending.Status, rounding.Up(of.Ending.Gap, 2))
	}
	return of, nil
}
