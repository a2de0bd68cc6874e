package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/strategy"
	"mafalda/workload"
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
	said     *said                // what the manifest of an export for such batches says
	sampled  map[int]*Correlation // strategies by groups, as far as they were needed, for Poisson sampling
	strategy strategy.Strategy    // an export's strategy, for bins
	binned   map[float64]*Noise   // noise by ε, as far as it was needed, for bins
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
		m.sampled, m.binned = map[int]*Correlation{}, map[float64]*Noise{}
		s.methods = append(s.methods, &m)
	}
	return nil
}

// methodOf returns the index of the method of a cell, -1 if it is not of this study.
func (s *Study) methodOf(c Cell) int {
	return slices.IndexFunc(s.methods, func(m *method) bool { return m.name == c.Method && m.export == c.Export })
}

// correlation makes the correlation of one of MethodNames.
func (s *Study) correlation(ctx context.Context, name string) (*Correlation, error) {
	if isShared(name) {
		return s.sharedMethod(ctx, name)
	}
	made, err := s.strategy(ctx, name)
	if err != nil {
		return nil, err
	}
	return NewCorrelation(s.network.Graph.Nodes(), Shared(made), s.config.Schema)
}

// strategy makes the strategy of one of MethodNames. Baselines know the optimizer, and no network.
func (s *Study) strategy(ctx context.Context, name string) (strategy.Strategy, error) {
	schema, spec := s.config.Schema, s.config.trained()
	var h *mat.SymDense
	var err error
	switch name {
	case Mafalda:
		h, err = s.curvedGram(ctx)
	case Uncurved:
		h, err = s.gram(ctx)
	case Ignorant:
		spec = spec.Plain()
		h, err = s.gramOf(ctx, spec, nil)
	default:
		return baselines.NewFor(ctx, name, spec, schema)
	}
	if err != nil {
		return nil, err
	}
	r, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{Gap: s.gapFor(name, spec)})
	if err != nil {
		return nil, err
	}
	return r.Strategy, converged(r)
}

// Gaps of strategies for more than plain training, whose last digits take long where rates are close to 0.
const (
	trainedGap = 1e-4 // that searches stop at
	enoughGap  = 1e-3 // of a search that ended before: far less than what seeds make of a loss
)

// gapFor returns the certified gap at which the search of a method stops: where the noise of some steps costs nothing,
// the gap for the last step's error; for plain training without feedback 0, the default.
func (s *Study) gapFor(name string, spec workload.Spec) float64 {
	switch {
	case spec.HasFreeNoise(s.config.Schema.Steps()):
		return factorize.LastStep.DefaultGap()
	case spec.IsPlain() && name != Mafalda:
		return 0
	}
	return trainedGap
}

// converged is the error of an optimum that is none.
func converged(r *factorize.Result) error {
	switch {
	case r.Status == optim.Interrupted:
		return context.Canceled
	case r.Status == optim.Converged || r.Gap <= enoughGap:
		return nil
	}
	return fmt.Errorf("%v with a gap of %s", r.Status, strconv.FormatFloat(rounding.Up(r.Gap, 2), 'g', 2, 64))
}
