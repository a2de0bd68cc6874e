package simulate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/workload"
)

// Study is Run for every method at every level of privacy from every seed, as cells of package study: every process
// that makes the same study computes the same cells, which are plain data. Its methods may be called from several
// goroutines at once.
type Study struct {
	network *graph.Network
	config  Config
	options StudyOptions
	levels  []float64 // μ, or ε where batches are drawn in secret, ascending, each once
	notes   []string

	byRate   map[float64]*Study        // the same with one learning rate each; nil unless several are tried
	spectrum func() workload.Curvature // curvature of the task, for a learning rate of one

	making      sync.Mutex // held while a strategy, or a noise multiplier, is made
	methods     []*method
	multipliers bands.Noise   // noise multipliers, as far as they were needed
	made        *mat.SymDense // the Gram matrix of the run's workload
	excessGram  *mat.SymDense // Gram matrix of the steps whose losses are averaged, for gradients that answer to errors
	records     int           // records of the largest node, for batches of a largest size; 0 until they are counted
	predictions map[*Correlation]*float64
}

// StudyOptions says what a Study compares.
type StudyOptions struct {
	Methods   []string             // names as of MethodNames, and folders of exports; repeated ones count once
	Folders   map[string]string    // where folders of Methods are, if not where their names say
	Mus       []float64            `in:"(0,)"`  // levels of privacy, of Gaussian differential privacy
	Epsilons  []float64            `in:"(0,)"`  // more levels, as ε of (ε, Delta)-differential privacy
	Delta     float64              `in:"(0,1)"` // δ for which ε is reported
	Adjacency accounting.Adjacency // which datasets are neighbours: zero-out unless set
	Seeds     int                  `in:"[1,)"` // runs of every method at every level, from the seeds 0, 1, …

	// Tune are the learning rates that every method is tried with, over that of the configuration; nil: that alone. The
	// Grid has the runs of the rate with the least mean loss on records kept apart (Config.Validation), for every method
	// and level. That is not paid for in privacy.
	Tune      []float64            `in:"(0,)"`
	Sampling  participation.Scheme // scheme, batches in turn unless set; otherwise levels are Epsilons, and neighbours zero-out
	Bandwidth int                  // bands of the optimum, where batches are drawn in secret; 0: see MethodsFor

	MonteCarlo bins.MonteCarlo // samples of the accountant of bins
}

// Check finds options that make no study, before anything is read but the existence of folders: a fault.Argument that
// names the field, or a method that is neither known nor a folder.
func (o StudyOptions) Check() error {
	if len(o.Methods) == 0 {
		return fault.New("Methods", nil, "is empty")
	}
	if err := cmp.Or(fault.Ranges(o), o.checkScheme()); err != nil {
		return err
	}
	if _, err := o.levels(); err != nil {
		return err
	}
	return o.checkMethods()
}

// levels returns the μ's, or the ε's where batches are drawn in secret, each once, ascending.
func (o StudyOptions) levels() ([]float64, error) {
	if o.Sampling != participation.InTurn {
		return slices.Compact(slices.Sorted(slices.Values(o.Epsilons))), nil
	}
	mus := slices.Clone(o.Mus)
	for _, epsilon := range o.Epsilons {
		mu, err := accounting.MuFromDP(epsilon, o.Delta)
		if err != nil {
			return nil, fault.New("Epsilons", epsilon, "%v", err)
		}
		mus = append(mus, mu)
	}
	slices.Sort(mus)
	return slices.Compact(mus), nil
}

// Runs returns how many there are at most.
func (o StudyOptions) Runs() float64 {
	return float64(o.Seeds) * float64(len(o.Methods)) * float64(max(len(o.Mus)+len(o.Epsilons), 1)*max(len(o.Tune), 1))
}

// Needs returns about how many bytes the results of all runs take: losses and their steps; more if they are written,
// as text in a buffer that grows.
func (o StudyOptions) Needs(steps int, written bool) float64 {
	run := 500 + 16*float64(min(steps, 128+Window))
	if written {
		run *= 4
	}
	return run * o.Runs()
}

// StrategyNeeds returns about how many bytes a strategy of these steps takes while it is made: 60 matrices of T×T.
func StrategyNeeds(steps int) float64 { return 60 * 8 * float64(steps) * float64(steps) }

// NewStudy returns the study of a configuration on a network, whose gossip matrix it takes. Fields of the configuration
// that are 0 have their defaults, but for Every: losses are measured about 64 times before the last Window steps.
// Exports are read. It fails
//   - as Check does, and for an invalid configuration (ErrData);
//   - for exports that cannot be read or do not fit (StepsError, participation.ErrViolated, export.ErrOtherNetwork);
//   - if memory does not hold the run (package limits);
//   - if records would take part more often than the schema allows (participation.ErrViolated).
func NewStudy(n *graph.Network, c Config, o StudyOptions) (*Study, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	levels, err := o.levels()
	if err != nil {
		return nil, err
	}
	c.Gossip = n.Gossip.Matrix()
	if c.Workload, err = c.Workload.On(n); err != nil {
		return nil, err
	}
	if c.Schema != nil && c.Every == 0 {
		c.Every = max(c.Schema.Steps()/64, 1)
	}
	if c, err = c.filled(); err != nil {
		return nil, err
	}
	s := &Study{network: n, config: c, options: o, levels: levels, multipliers: bands.Noise{},
		predictions: map[*Correlation]*float64{}}
	if err := sampling.Of(o.Sampling).Check(c.Schema); err != nil {
		return nil, err
	}
	if err := s.chooseMethods(); err != nil {
		return nil, err
	}
	s.estimated()
	if c.Task.Data == "" {
		s.config.Task.Data = c.Task.digest()
	}
	steps, nodes := c.Schema.Steps(), n.Graph.Nodes()
	what := fmt.Sprintf("T = %d on %d nodes with %d parameters", steps, nodes, c.Task.Model.Size())
	if err := limits.Fits(what, s.needs()); err != nil {
		return nil, err
	}
	most, named := c.Schema.Separation(), "b"
	if o.Sampling == participation.Bins {
		most, named = steps, "T"
	}
	if o.Bandwidth > most {
		return nil, fault.New("Bandwidth", o.Bandwidth, "must be at most %s = %d", named, most)
	}
	if err := participation.CheckCycle(c.Schema, c.Batches); err != nil {
		return nil, fmt.Errorf("%w: T must be at most k·b", err)
	}
	s.spectrum = sync.OnceValue(func() workload.Curvature { return c.Task.Curvature(c.Clip) })
	return s, s.split()
}

// split makes a study of every learning rate that is to be tried.
func (s *Study) split() error {
	one := s.options
	one.Tune = nil
	for _, factor := range s.options.Tune {
		c := s.config
		c.LearningRate, c.Validation = factor*c.LearningRate, true
		of, err := NewStudy(s.network, c, one)
		if err != nil {
			return err
		}
		if s.byRate == nil {
			s.byRate = map[float64]*Study{}
		}
		of.spectrum = s.spectrum
		s.byRate[c.LearningRate] = of
	}
	return nil
}

// Rates returns the learning rates that are tried, ascending; 0 alone where it is the configuration's.
func (s *Study) Rates() []float64 {
	if s.byRate == nil {
		return []float64{0}
	}
	return slices.Sorted(maps.Keys(s.byRate))
}

// needs returns about how many bytes one run takes, and the making of its strategy.
func (s *Study) needs() float64 {
	steps, nodes := float64(s.config.Schema.Steps()), float64(s.network.Graph.Nodes())
	need := 4*nodes*float64(s.config.Task.Model.Size())*(steps+6) + StrategyNeeds(s.config.Schema.Steps())
	if !s.config.Workload.IsStatic() && s.config.Workload.RandomNeighbours == 0 {
		need += 6 * 8 * nodes * nodes
	}
	return need
}

// Memory is about how many bytes the study takes while it runs.
func (s *Study) Memory() float64 { return s.needs() + s.options.Needs(s.config.Schema.Steps(), true) }

// Seconds is about how long a run takes on one processor, within a factor of ten: gradients, losses, and noise, of
// which every row is a sum of all rows before it but for dp-d-sgd.
func (s *Study) Seconds(c Cell) float64 {
	steps := float64(s.config.Schema.Steps())
	const step, losses = 100, 6e4 // operations of a parameter
	operations := step*steps + losses
	switch c.Method {
	case None, baselines.DPDSGD:
	default:
		operations += steps * steps / 2
	}
	return 1e-9 * float64(s.network.Graph.Nodes()*s.config.Task.Model.Size()) * operations
}

// Network returns the network that is trained on.
func (s *Study) Network() *graph.Network { return s.network }

// Config returns what is trained, with its defaults filled in.
func (s *Study) Config() Config { return s.config }

// Options returns what is compared.
func (s *Study) Options() StudyOptions { return s.options }

// Levels returns the levels of privacy, ascending: μ of Gaussian differential privacy, or ε where batches are drawn in
// secret.
func (s *Study) Levels() []float64 { return slices.Clone(s.levels) }

// Notes returns what a user should know of the methods, a sentence each.
func (s *Study) Notes() []string { return s.notes }

// Cells are the runs of the study: seed by seed, so that comparisons can be made early.
func (s *Study) Cells() []Cell {
	var cells []Cell
	for seed := range uint64(s.options.Seeds) {
		for _, m := range s.methods {
			levels := s.levels
			if m.name == None {
				levels = []float64{0}
			}
			for _, level := range levels {
				cell := Cell{Method: m.name, Export: m.export, Mu: level, Seed: seed}
				if scheme := s.options.Sampling; scheme != participation.InTurn {
					cell.Sampling, cell.Mu, cell.Epsilon = scheme.String(), 0, level
				}
				for _, cell.Rate = range s.Rates() {
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells
}

// Do computes a cell. It fails for a cell of another study, if its strategy cannot be made, and as Run does.
func (s *Study) Do(ctx context.Context, c Cell) (Result, error) {
	if c.Rate != 0 {
		of := s.byRate[c.Rate]
		if of == nil {
			return Result{}, fmt.Errorf("no learning rate of this study is %v", c.Rate)
		}
		c.Rate = 0
		return of.Do(ctx, c)
	}
	sampling, noise, err := s.drawn(ctx, c)
	if err != nil {
		return Result{}, err
	}
	config := s.config
	config.Sampling = sampling
	r, err := Run(ctx, config, noise, c.Seed)
	if err != nil {
		return Result{}, err
	}
	if r.Predicted, err = s.predicted(ctx, noise); err != nil {
		return Result{}, fmt.Errorf("prediction for %s: %w", c.Method, err)
	}
	if r.PredictedExcess, err = s.predictedExcess(ctx, noise, r); err != nil {
		return Result{}, fmt.Errorf("prediction for %s: %w", c.Method, err)
	}
	return *r, nil
}
