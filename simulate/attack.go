package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat"
	"mafalda/threat/reaction"
	"mafalda/threat/reaction/smoothness"
)

// AttackOptions says who attacks whom in a training. The zero value of a number asks for the default named there.
type AttackOptions struct {
	Attacker int     // a node
	Victim   *int    // another one; nil: the nearest whose messages the attacker does not see
	Mu       float64 `in:"(0,)"` // μ of local DP, against attackers who see all messages; 0 means 1
	Seed     uint64  // seed of data, start and noise

	Runs       int     `in:"[20,)"` // number of trainings, without and with the record each; 0 means 2000
	Confidence float64 `in:"(0,1)"` // two-sided confidence of the interval; 0 means 0.999

	// Progress, if not nil, sees how many runs are done, of how many, from several goroutines.
	Progress func(done, total int)
}

// Attacked is what an attacker learned of a record in real training, beside what is claimed. All μ are of Gaussian
// differential privacy, for zero-out neighbours.
type Attacked struct {
	Victim int     `json:"-"`
	Hops   int     `json:"hops"`        // hops from the victim to the attacker
	Batch  int     `json:"batch"`       // number of records in a batch, at every node
	Moves  float64 `json:"record_norm"` // norm of the record's first gradient, clipped, over the clipping norm

	Row   string            `json:"class"` // row of package smoothness; none: the model is in no class
	Found *smoothness.Found `json:"-"`
	Rho   *float64          `json:"rho,omitempty"`
	Kappa *float64          `json:"kappa,omitempty"`

	Local   float64 `json:"ldp_mu"`
	Bound   float64 `json:"bound_mu"`            // bound for every training of the class; local DP without a class
	Without float64 `json:"without_reaction_mu"` // μ if gradients do not react: no guarantee
	Linear  float64 `json:"linear_answers_mu"`   // μ of this record, if nodes give the linear answers that the statistic is for

	Reached float64 `json:"empirical_mu"`
	Low     float64 `json:"ci_low"` // lower end of Reached's interval; what holds has at least this μ, with the confidence
	High    float64 `json:"ci_high,omitempty"`
	Runs    int     `json:"runs"`
	Passed  bool    `json:"passed"`                  // Low is not above Bound
	Broken  bool    `json:"without_reaction_broken"` // Low is above Without
}

// noClass is Row of models that are in no class.
const noClass = "none"

// Attack trains many times with one record of the victim and without it, DP-D-SGD with fresh noise every time, and applies a
// linear statistic to what the attacker sees: the messages that reach it, along the direction of the record's first clipped
// gradient. They are weighed as is best for the linear answers that hidden nodes give in that direction, at models of a run
// without noise: the attacker of one record may know all others. A threshold shows a μ (threat.TradeoffOf). The record is
// the one of the victim's first batch whose gradient is longest at the start, so that it takes part in every b-th step, from
// the first. Data are cut so that all batches have the same size.
//
// It fails as Run and package threat do, and with a fault.Argument that names a field of the options, or Sampling or
// Workload for what is not attacked: batches drawn in secret, and training that is not plain.
func Attack(ctx context.Context, c Config, o AttackOptions) (*Attacked, error) {
	a := &attack{options: o}
	if err := fault.First(
		func() error { return a.configure(c) }, a.evenRecords, func() error { return a.claim(ctx) }, a.chooseRecord,
		func() error { return a.weigh(ctx) }); err != nil {
		return nil, err
	}
	runs, workers := a.options.Runs, a.config.Workers
	statistics := make([]float64, 2*runs) // without, with
	errs := make([]error, workers)
	var done atomic.Int64
	a.config.Workers = 1 // one goroutine a run
	parallel.Workers(workers, 2*runs, func(worker, i int) {
		if errs[worker] != nil || ctx.Err() != nil {
			return
		}
		statistics[i], errs[worker] = a.run(ctx, i >= runs, uint64(i)+1)
		if a.options.Progress != nil {
			a.options.Progress(int(done.Add(1)), 2*runs)
		}
	})
	if err := cmp.Or(context.Cause(ctx), cmp.Or(errs...)); err != nil {
		return nil, err
	}
	reached, err := threat.TradeoffOf(statistics[:runs], statistics[runs:], a.options.Confidence)
	out := a.result
	out.Reached, out.Low, out.High, out.Runs = reached.Mu, reached.Low, reached.High, runs
	out.Passed, out.Broken = out.Low <= out.Bound, out.Low > out.Without
	return out, err
}

// attack is what all runs share.
type attack struct {
	config    Config
	options   AttackOptions
	scenario  threat.Scenario
	noise     *Noise
	sigma     float64 // noise over what a record can move a sum by
	statistic *threat.Statistic
	first     *trainer  // trains without noise
	record    int       // row of the victim's first batch
	direction []float32 // direction of the record's gradient, of norm one
	unit      float64   // how far a record that moves a sum of gradients by the clipping norm moves a message
	result    *Attacked
}

// configure fills in the defaults, and chooses the victim.
func (a *attack) configure(c Config) (err error) {
	if a.config, err = c.withDefaults(); err != nil {
		return err
	}
	o, steps := &a.options, a.config.Schema.Steps()
	o.Mu, o.Runs, o.Confidence = cmp.Or(o.Mu, 1), cmp.Or(o.Runs, 2000), cmp.Or(o.Confidence, 0.999)
	nodes, _ := c.Gossip.Dims()
	victim := -1
	if o.Victim != nil {
		victim = *o.Victim
	}
	if err := cmp.Or(
		fault.If(c.Sampling != nil, "Sampling", nil, "batches drawn in secret are not attacked here"),
		fault.If(!training(c.Workload).IsPlain(), "Workload", nil, "only plain training on a network that stays is attacked"),
		fault.If(o.Attacker < 0 || o.Attacker >= nodes, "Attacker", o.Attacker, "is not one of %d nodes", nodes),
		fault.If(victim >= nodes || o.Victim != nil && victim < 0, "Victim", victim, "is not one of %d nodes", nodes),
		fault.If(victim == o.Attacker, "Victim", victim, "attacks itself: its records are known"),
		fault.Ranges(*o)); err != nil {
		return err
	}
	if steps > threat.MaxAudit/nodes { // before claims that take long
		return fmt.Errorf("%w: %d nodes in %d steps are more than %d messages; take fewer steps", threat.ErrAudit, nodes, steps,
			threat.MaxAudit)
	}
	a.scenario = threat.Scenario{Gossip: c.Gossip, Algorithm: threat.DPDSGD(), Schema: c.Schema,
		Attacker: threat.Attacker{Trust: threat.PNDP, Nodes: []int{o.Attacker}}}
	if o.Victim == nil {
		var there bool
		if victim, there = a.scenario.NearestHidden(); !there {
			return fault.New("Attacker", o.Attacker, "is the only node")
		}
	}
	a.result = &Attacked{Victim: victim, Hops: graph.Hops(c.Gossip, []int{o.Attacker})[victim], Row: noClass}
	return nil
}

// evenRecords cuts the training data so that all batches have the same size, and reads them once for all runs.
func (a *attack) evenRecords() error {
	train, test := a.config.Task.Split(a.options.Seed)
	nodes, _ := a.config.Gossip.Dims()
	each := nodes * a.config.Batches
	if a.result.Batch = train.Len() / each; a.result.Batch == 0 {
		return fmt.Errorf("%w: %d training records are not one for each of %d batches of %d nodes", ErrData, train.Len(),
			a.config.Batches, nodes)
	}
	train = train.Slice(0, a.result.Batch*each)
	a.config.Task.Split = func(uint64) (Dataset, Dataset) { return train, test }
	return nil
}

// claim makes the noise, and says what is claimed of it.
func (a *attack) claim(ctx context.Context) error {
	c, r := a.config, a.result
	nodes, _ := c.Gossip.Dims()
	correlation, err := NewCorrelation(nodes, Shared(strategy.Identity(c.Schema.Steps())), c.Schema)
	if err != nil {
		return err
	}
	a.noise = &Noise{Correlation: correlation, Adjacency: accounting.ZeroOut, Mu: a.options.Mu}
	records, _ := c.Task.Split(a.options.Seed)
	found, known, err := c.Task.Class(records, r.Batch, c.LearningRate, c.Clip)
	if err != nil {
		return err
	}
	var class *reaction.Class
	if known {
		class, r.Row, r.Found = &found.Class, string(found.Row), &found
		r.Rho, r.Kappa = &found.Class.Rho, &found.Class.Kappa
	}
	std, err := a.noise.std(r.Victim, float64(r.Batch), c.Clip)
	if err != nil {
		return err
	}
	a.sigma, a.unit = std*float64(r.Batch)/c.Clip, c.LearningRate*c.Clip/float64(r.Batch)
	proven, err := a.scenario.Proven(ctx, r.Victim, class, a.sigma)
	r.Local, r.Bound, r.Without = proven.Local, proven.Bound, proven.Without
	return err
}

// chooseRecord finds the record of the victim's first batch whose gradient is longest at the start.
func (a *attack) chooseRecord() (err error) {
	if a.first, err = newTrainer(a.config, nil, a.options.Seed); err != nil {
		return err
	}
	t := a.first
	batch, _, err := t.batches.take(participation.NewLedger(t.records, a.config.Schema), a.result.Victim, 0)
	if err != nil {
		return err
	}
	gradient := make([]float32, t.size)
	longest := -1.0
	for i := range batch.Len() {
		t.workers[0].ClippedSumTo(gradient, t.state.Model(a.result.Victim), batch.Slice(i, i+1), math.Inf(1))
		if length := norm(gradient); length > longest {
			longest, a.record, a.direction = length, i, slices.Clone(gradient)
		}
	}
	if !(longest > 0) || math.IsInf(longest, 1) {
		return fmt.Errorf("%w: no record of the victim's first batch has a gradient to be seen", ErrData)
	}
	blas32.Scal(float32(1/longest), vector(a.direction))
	a.result.Moves = math.Min(1, longest/a.config.Clip)
	return nil
}

// norm returns the Euclidean norm, up.
func norm(x []float32) float64 { return math.Sqrt(squaredNorm(x)) * (1 + 1e-12) }

// weigh makes the statistic.
func (a *attack) weigh(ctx context.Context) error {
	change := make([]float64, a.config.Schema.Steps())
	for t := 0; t < len(change); t += a.config.Batches {
		change[t] = a.result.Moves
	}
	answers, err := a.answers()
	if err == nil {
		a.statistic, err = a.scenario.Statistic(ctx, a.result.Victim, change, answers, a.sigma)
	}
	if err == nil {
		a.result.Linear = a.statistic.Mu
	}
	return err
}

// answers returns by what every node's step multiplies a difference of models in the record's direction, as large as the
// noise of one step, in every step of a run without noise.
func (a *attack) answers() ([][]float64, error) {
	t, apart := a.first, a.sigma*a.unit
	ledger := participation.NewLedger(t.records, a.config.Schema)
	theta, gradient := make([]float32, t.size), make([]float32, t.size)
	out := make([][]float64, a.config.Schema.Steps())
	for step := range out {
		out[step] = make([]float64, t.nodes)
		for v := range out[step] {
			batch, divisor, err := t.batches.take(ledger, v, step)
			if err != nil {
				return nil, err
			}
			difference := 0.0
			for _, sign := range []float64{1, -1} {
				copy(theta, t.state.Model(v))
				blas32.Axpy(float32(sign*apart), vector(a.direction), vector(theta))
				t.workers[0].ClippedSumTo(gradient, theta, batch, a.config.Clip)
				difference += sign * float64(blas32.Dot(vector(a.direction), vector(gradient)))
			}
			out[step][v] = 1 - a.config.LearningRate/divisor*difference/(2*apart)
			if v == a.options.Attacker || out[step][v]-out[step][v] != 0 {
				out[step][v] = 1
			}
		}
		if err := t.descend(step); err != nil {
			return nil, err
		}
		t.state.Gossip(t.networks)
	}
	return out, nil
}

// run trains once, and returns the statistic of what the attacker sees.
func (a *attack) run(ctx context.Context, with bool, noiseSeed uint64) (float64, error) {
	t, err := newTrainer(a.config, a.noise, a.options.Seed)
	if err != nil {
		return 0, err
	}
	if !with {
		t.batches = &withoutRecord{batches: t.batches, node: a.result.Victim, record: a.record, every: a.config.Batches}
	}
	if err := t.drawNoise(ctx, a.options.Seed^noiseSeed<<32); err != nil {
		return 0, err
	}
	sum := 0.0
	for step, weights := range a.statistic.Weights {
		if err := t.descend(step); err != nil {
			return 0, err
		}
		for i, v := range a.statistic.Nodes { // models are messages now; steps go down
			sum -= weights[i] * float64(blas32.Dot(vector(a.direction), vector(t.state.Model(v)))) / a.unit
		}
		t.state.Gossip(t.networks)
	}
	if sum-sum != 0 {
		return 0, fmt.Errorf("%w: the training diverges", ErrData)
	}
	return sum, nil
}

// withoutRecord are batches without one record of a node's first batch. What sums are divided by stays.
type withoutRecord struct {
	batches
	node, record, every int
}

func (w *withoutRecord) take(l *participation.Ledger, node, step int) (Dataset, float64, error) {
	batch, divisor, err := w.batches.take(l, node, step)
	if err != nil || node != w.node || step%w.every != 0 {
		return batch, divisor, err
	}
	return batch.Pick(slices.Delete(lists.UpTo(batch.Len()), w.record, w.record+1)), divisor, nil
}
