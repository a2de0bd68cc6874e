package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/study"
	"mafalda/workload"
)

// sharingMode computes the best noise over nodes and steps, where nodes share noise in pairs: noise between nodes and
// a strategy of the class, in turn.
type sharingMode struct{}

func (sharingMode) takes(p Problem, _ Options) bool { return p.Sharing != nil }

func (sharingMode) check(p Problem, o Options) error {
	switch {
	case o.Sampling == participation.Poisson && o.Privacy != nil && o.Privacy.Adjacency != accounting.ZeroOut:
		return fault.New("Adjacency", o.Privacy.Adjacency, "with [Sampling] %v is not for noise that nodes share", o.Sampling)
	case p.Network == nil:
		return nil
	case p.Sharing.setting.Secrets == nil || p.Sharing.setting.Secrets.Nodes() != p.nodes():
		return fault.New("Sharing", nil, "is not one of the network's %d nodes: see Sharing.Resolve", p.nodes())
	}
	_, err := p.spaceTime()
	return err
}

func (sharingMode) exactOnly() string { return "noise that nodes share needs the exact Gram matrices" }

func (sharingMode) needs(j *job) Resources {
	took := j.turnTime()
	if j.Options.Sampling == participation.Poisson {
		took = poissonTime(j.schema().Steps())
	}
	n := j.need(matricesOfSearch, 1, took)
	if !j.hasNetwork() || j.Problem.Sharing.setting.Secrets == nil {
		return n
	}
	n.What += fmt.Sprintf(" with %d pairs that share", len(j.Problem.Sharing.setting.Secrets.Pairs()))
	numbers, ns := j.Problem.sharingNeeds()
	n.Memory += floatBytes * numbers
	n.Time = duration(4*float64(n.Time) + ns)
	return n
}

// sharingNeeds returns how many numbers the search for noise between nodes keeps, and about how many nanoseconds it
// takes: some fifty Newton steps, the proof of what attackers see, and a bound for every node and pair.
func (p Problem) sharingNeeds() (numbers, ns float64) {
	s := p.Sharing.setting
	n, steps := float64(p.nodes()), float64(p.Schema.Steps())
	all := n + float64(len(s.Secrets.Pairs()))
	variables := float64(spacetime.Variables(p.nodes(), len(s.Secrets.Pairs())))
	attackers := float64(len(s.Attackers.Coalitions()))
	const newtonSteps, rowsOfPanel, multiplication = 50, 512, 0.04
	const uncollected = 1.6 // what is no longer used, until it is collected
	numbers = uncollected*variables*variables + rowsOfPanel*variables + attackers*n + 100*all + 50*n*n + 2*p.panel(&export.Gram{
		Method: GramExact.String()}, false)
	ns = multiplication * (newtonSteps*variables*variables*(variables/3+2*n) + 4*attackers*n*n*n + 40*all*steps*steps*steps)
	return numbers, ns
}

func (sharingMode) solve(ctx context.Context, s *job) error {
	p, err := s.Problem.spaceProblem(s.Options)
	if err != nil {
		return err
	}
	var r *spacetime.Result
	if s.Options.Sampling == participation.Poisson {
		r, err = s.sharedBands(ctx, &p)
	} else {
		r, err = s.alternate(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("optimizing: %w", err)
	}
	s.Space = &Space{Result: r}
	if err := s.completeSpace(ctx, p); err != nil {
		return err
	}
	s.Quality, s.Ending = s.best().Quality, s.Space.ending(ctx) // bounds are of each half, and one of both together
	if s.Options.Sampling == participation.Poisson {
		return s.setPoissonNoise(ctx)
	}
	return s.setNoise(ctx)
}

func (sharingMode) describe(s *Solution, m *export.Manifest) {
	on, of, labels := s.Problem.Sharing, s.Space, s.Problem.Network.Graph.Labels()
	m.Trust = export.TrustSecLDP
	m.Status, m.Iterations = s.Ending.Status.String(), s.Ending.Iterations
	m.LDPLoss, m.JointLowerBound = of.LDP.Loss, of.JointLowerBound
	m.Space = &export.Space{Secrets: on.secrets, Coalitions: on.coalitions, LargestPair: on.setting.LargestPair,
		GapSpace: of.GapSpace, GapTime: of.GapTime,
		Worst: export.Worst{Attacker: labelsOf(labels, of.Worst.Attacker), Victim: labels[of.Worst.Victim],
			Value: of.Worst.Value}}
	m.Space.Own, m.Space.Pairs = of.shared.Labelled()
	if b, there := m.Baselines[baselines.DECOR]; there && m.Sampled() { // one band
		b.ErrorAtPrivacy = measure.ErrorAtPrivacy(of.decor, b.SquaredError)
		m.Baselines[baselines.DECOR] = b
	}
}

// Space is noise over the nodes, and what is known of it.
type Space struct {
	*spacetime.Result
	GapSpace, GapTime float64 // gaps of export.Space, rounded up
	JointLowerBound   float64 // no noise that is one covariance between nodes times one strategy over time has a smaller loss

	shared *export.SharedNoise
	decor  float64 // noise multiplier of DECOR under Poisson sampling
}

// alternate finds noise between nodes and a strategy of the class, each the best for the other. The checkpoint has all
// but the step that is under way when ctx ends.
func (s *job) alternate(ctx context.Context, p spacetime.Problem) (*spacetime.Result, error) {
	kept := s.checkpoints(p.Workload.Nodes() + len(p.Secrets.Pairs()) + p.Workload.Steps()*p.Workload.Steps())
	state, err := s.spaceState(kept, p)
	if err != nil {
		return nil, err
	}
	defer kept.end()
	defer func() {
		if kept.last(); ctx.Err() != nil && kept.kept >= 0 {
			s.note(false, "kept in %s", kept.path)
		}
	}()
	count := 0
	o := spacetime.Options{Gap: s.Options.spaceTolerance(), TimeGap: s.timeGap(), State: state,
		Progress: func(it spacetime.Iteration) {
			count++
			s.showRound(it)
			if x := it.State; x != nil {
				kept.keep(checkpoint{Iterations: count, Round: x.Round, Mu: x.Space.Mu}, x.Space.Own, x.Space.Pairs, x.X)
			}
		}}
	return runAbandonable(ctx, s, func(ctx context.Context) (*spacetime.Result, error) { return spacetime.Optimize(ctx, p, o) })
}

// runAbandonable does work that is left behind when ctx ends, unless what there is then is wanted.
func runAbandonable[T any](ctx context.Context, s *job, work func(ctx context.Context) (T, error)) (T, error) {
	if s.Options.Partial {
		return work(ctx)
	}
	return parallel.Abandonable(ctx, work)
}

// sharedBands finds noise and a strategy for Poisson sampling. Unless it is given, the number of bands is the best one
// for noise that is not shared.
func (s *job) sharedBands(ctx context.Context, p *spacetime.Problem) (*spacetime.Result, error) {
	schema, target, w := s.schema(), s.Options.Privacy.Target, s.Options.Class.Parameters().Bandwidth
	if w == 0 {
		own, o := s.Problem, s.Options
		own.Sharing, o.NoBaselines = nil, true
		alone, err := Solve(ctx, own, o)
		if err != nil {
			return nil, err
		}
		w = alone.Strategy().Parameters().Bandwidth
	}
	multiplier, err := (bands.Noise{}).Multiplier(schema, w, target.Epsilon, target.Delta)
	if err != nil {
		return nil, fmt.Errorf("noise for %d bands: %w", w, err)
	}
	p.Class = factorize.Banded{Bandwidth: w}
	r, err := s.alternate(ctx, *p)
	if err != nil {
		return nil, err
	}
	rounds := pld.BandRounds(schema.Steps(), schema.Separation(), w)
	s.bands.Cost = bands.Cost{Bandwidth: w, Probability: rounds.Probability, Rounds: rounds.Rounds, NoiseMultiplier: multiplier,
		SquaredError: r.Time.SquaredError, ErrorAtPrivacy: measure.ErrorAtPrivacy(multiplier, r.Time.SquaredError)}
	return r, nil
}

// spaceTolerance is the gap of noise over the nodes at which rounds end.
func (o Options) spaceTolerance() float64 { return spacetime.GapBeside(o.Tolerance) }

// timeGap is the gap to ask of the strategy; 0, the default, of classes that have none.
func (s *job) timeGap() float64 {
	if !s.Options.Class.Traits().Certified {
		return 0
	}
	return s.Options.Tolerance
}

// spaceState returns where to go on; nil: at the beginning.
func (s *job) spaceState(kept *checkpoints, p spacetime.Problem) (*spacetime.State, error) {
	x, err := s.resumed(kept)
	if x.Numbers == nil || err != nil {
		return nil, err
	}
	n, m := p.Workload.Nodes(), len(p.Secrets.Pairs())
	return &spacetime.State{Round: x.Round, Space: spacetime.Point{Own: x.Numbers[:n:n], Pairs: x.Numbers[n : n+m : n+m], Mu: x.Mu},
		X: x.Numbers[n+m:]}, nil
}

// showRound reports a step of either half.
func (s *job) showRound(it spacetime.Iteration) {
	if s.Options.Progress == nil {
		return
	}
	phase, goal := fmt.Sprintf("round %d: strategy", it.Round), s.Options.Tolerance
	switch {
	case it.Round == 0:
		phase = "without secrets"
	case it.Space:
		phase, goal = fmt.Sprintf("round %d: noise of pairs", it.Round), s.Options.spaceTolerance()/10
	}
	s.Options.Progress(Event{Phase: phase, Fraction: fraction(it.Gap, goal), Iteration: &factorize.Iteration{Count: it.Count,
		Loss: it.Loss, LowerBound: it.LowerBound, Gap: it.Gap}})
}

// completeSpace finds what noise of that kind is compared with, and bounds.
func (s *job) completeSpace(ctx context.Context, p spacetime.Problem) error {
	r := s.Space.Result
	s.Optimum = r.Time
	bounded := *r // by a dense strategy, whose dual is the better one
	if !s.Options.dense() {
		s.show("lower bound", 0)
		h, err := p.Workload.TimeGram(context.WithoutCancel(ctx), r.Noise.Covariance())
		if err != nil {
			return err
		}
		s.OfClass = r.Time
		s.Optimum, err = factorize.Dense{}.Optimize(ctx, factorize.Mean(h), p.Schema,
			factorize.Options{Gap: s.Options.Tolerance})
		if err != nil {
			return fmt.Errorf("optimizing: %w", err)
		}
		bounded.Time = s.Optimum
	}
	s.show("joint lower bound", 0)
	var err error
	s.Space.JointLowerBound, err = runAbandonable(ctx, s, func(ctx context.Context) (float64, error) {
		return spacetime.JointLowerBound(ctx, p, &bounded)
	})
	if err != nil {
		return fmt.Errorf("bounding the loss: %w", err)
	}
	s.Space.GapSpace, s.Space.GapTime = r.SpaceGap, rounding.DivUp(r.Loss-s.Optimum.LowerBound, s.Optimum.LowerBound)
	if math.IsInf(s.Space.GapSpace, 1) || math.IsInf(s.Space.GapTime, 1) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("optimizing: nothing is proven of the best noise that was found")
	}
	if err := s.shareNoise(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.spaceBaselines(ctx, p)
}

// shareNoise makes the noise that is exported, with all pairs that may share some.
func (s *job) shareNoise() error {
	n := s.Problem.Network.Graph
	deviations := map[secrets.Pair]float64{}
	for _, p := range s.Space.Noise.Pairs {
		deviations[p.Pair] = p.Deviation
	}
	all := &secrets.Noise{Own: s.Space.Noise.Own}
	for _, p := range s.Problem.Sharing.setting.Secrets.Pairs() {
		all.Pairs = append(all.Pairs, secrets.Shared{Pair: p, Deviation: deviations[p]})
	}
	var err error
	s.Space.shared, err = export.NewSharedNoise(n.Labels(), all)
	return err
}

// spaceBaselines measures what it is compared with.
func (s *job) spaceBaselines(ctx context.Context, p spacetime.Problem) error {
	s.Baselines = []baselines.Measured{{Name: baselines.LDPOptimal, Quality: s.Space.LDP.Quality}}
	if s.Options.NoBaselines {
		return nil
	}
	s.show("baselines", 0)
	measured, err := baselines.Shared(ctx, p, s.Strategy())
	if isEnd(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("optimizing the baseline decor: %w", err)
	}
	s.Baselines = append(s.Baselines, measured...)
	if s.Options.Sampling == participation.Poisson {
		target := s.Options.Privacy.Target
		s.Space.decor, err = (bands.Noise{}).Multiplier(s.schema(), 1, target.Epsilon, target.Delta)
	}
	return err
}

// ending says how the alternation ended.
func (s *Space) ending(ctx context.Context) Ending {
	e := Ending{Status: s.Status, Gap: s.GapSpace}
	if !math.IsInf(s.Time.Gap, 1) { // a class without a certificate has none
		e.Gap = math.Max(e.Gap, s.Time.Gap)
	}
	for _, r := range s.Rounds {
		e.Iterations += r.SpaceSteps + r.TimeSteps
	}
	if ctx.Err() != nil {
		e.Status = optim.Interrupted
	}
	return e
}

// Covariance returns M, n×n.
func (s *Space) Covariance() *mat.SymDense { return s.Noise.Covariance() }

// Sharing says which pairs of nodes share a secret, and which nodes may put together what they know: noise is then
// correlated between nodes as well as over time (SecLDP, package secrets). The zero value means the edges of the network,
// and single curious nodes. The eavesdropper, who knows no secret, is always among the attackers.
//
// Its setting is empty before Resolve.
type Sharing struct {
	Secrets    string // export.SecretsGossip, which empty means, SecretsAll, or the path of a file (secrets.LoadGraph)
	Coalitions string // "1", which empty means, "2", pairs as well, or the path of a file (secrets.LoadAttackers)

	// LargestPair is the most variance of a pair, relative to max [M_A⁻¹]_vv = 1; 0 means spacetime.DefaultLargestPair.
	LargestPair float64

	setting    spacetime.Setting // empty before Resolve
	secrets    export.Secrets    // what the manifest says of Secrets
	coalitions export.Coalitions
}

// Resolve returns the sharing with the nodes of the network. It fails with a fault.Argument, and if one of the two files
// cannot be read.
func (s *Sharing) Resolve(n *graph.Network) (*Sharing, error) {
	on := *s
	on.setting.LargestPair = cmp.Or(s.LargestPair, spacetime.DefaultLargestPair)
	return &on, fault.First(
		func() error { return spacetime.CheckLargestPair(s.LargestPair) },
		func() error { return on.loadSecrets(n.Graph) },
		func() error { return on.loadCoalitions(n.Graph) },
	)
}

// Setting returns who shares secrets and who colludes; empty before Resolve.
func (s *Sharing) Setting() spacetime.Setting { return s.setting }

func (s *Sharing) loadSecrets(g *graph.Graph) (err error) {
	s.secrets.Source = cmp.Or(s.Secrets, export.SecretsGossip)
	switch name := filepath.Base(s.Secrets); {
	case s.secrets.Source == export.SecretsGossip:
		s.setting.Secrets = secrets.OfEdges(g)
	case s.Secrets == export.SecretsAll:
		s.setting.Secrets, err = secrets.Complete(g.Nodes())
	case name == export.SecretsGossip || name == export.SecretsAll:
		return fault.New("Secrets", s.Secrets, "has a name that means something else: rename it")
	default:
		if s.secrets.SHA256, err = hashOf("Secrets", s.Secrets, "gossip, all, or a file of edges"); err == nil {
			s.secrets.Source = name
			s.setting.Secrets, err = secrets.LoadGraph(s.Secrets, g)
			err = fault.Because("Secrets", err)
		}
	}
	if err == nil {
		s.secrets.Pairs = len(s.setting.Secrets.Pairs())
	}
	return err
}

func (s *Sharing) loadCoalitions(g *graph.Graph) (err error) {
	switch s.Coalitions {
	case "", "1", "2":
		if s.coalitions.Size = 1; s.Coalitions == "2" {
			s.coalitions.Size = 2
		}
		s.setting.Attackers, err = secrets.Colluding(g.Nodes(), s.coalitions.Size)
		return err
	}
	if _, err := hashOf("Coalitions", s.Coalitions, "1, 2, or a file of coalitions"); err != nil {
		return err
	}
	if s.setting.Attackers, err = secrets.LoadAttackers(s.Coalitions, g); err != nil {
		return fault.Because("Coalitions", err)
	}
	s.coalitions.Source = filepath.Base(s.Coalitions)
	for _, c := range s.setting.Attackers.Coalitions()[1:] {
		s.coalitions.Sets = append(s.coalitions.Sets, labelsOf(g.Labels(), c))
	}
	return nil
}

// hashOf returns the SHA-256 of a file. A path that does not exist is a bad argument.
func hashOf(field, path, wanted string) (string, error) {
	sum, err := files.SHA256(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(field, path, "must be %s", wanted)
	}
	return sum, fault.Because(field, err)
}

func labelsOf(labels []string, nodes []int) []string {
	return lists.Map(nodes, func(v int) string { return labels[v] })
}

// addTo adds everything that the best noise depends on.
func (s *Sharing) addTo(in *study.Inputs) {
	if s == nil {
		return
	}
	d := study.NewDigest()
	for _, p := range s.setting.Secrets.Pairs() {
		d.Int(p.U)
		d.Int(p.V)
	}
	in.Add("pairs that share a secret", d.Sum())
	in.Add("largest variance of a pair", s.setting.LargestPair)
	d = study.NewDigest()
	d.Lists(s.setting.Attackers.Coalitions())
	in.Add("coalitions", d.Sum())
}

// spaceTime returns the workload over nodes and steps.
func (p Problem) spaceTime() (*workload.SpaceTime, error) {
	return workload.NewSpaceTime(p.Network.Gossip.Matrix(), p.Schema.Steps(), p.source(nil).Options(nil))
}

// spaceProblem returns what the best noise is searched for.
func (p Problem) spaceProblem(o Options) (spacetime.Problem, error) {
	w, err := p.spaceTime()
	if err != nil {
		return spacetime.Problem{}, fmt.Errorf("the workload over nodes and steps: %w", err)
	}
	schema, setting := p.Schema, p.Sharing.setting
	if o.Sampling == participation.Poisson { // a record takes part once in the rows of its group
		schema = participation.Single(schema)
	}
	if p.Levels != nil {
		setting.Attackers, err = setting.Attackers.Weighing(export.SharedWeights(p.Levels.levels))
	}
	return spacetime.Problem{Workload: w, Schema: schema, Class: o.Class, Setting: setting}, err
}
