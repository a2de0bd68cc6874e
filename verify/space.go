package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/factorize/spacetime"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// space checks what attackers learn of noise that is shared: from the standard deviations as they are exported, for all
// attackers and victims, with all rounding.
func (v *verification) space(ctx context.Context) error {
	m, n := v.export.Manifest, v.export.Shared
	if m.Space == nil {
		return nil
	}
	attackers, err := m.Attackers(n.Labels)
	if err != nil {
		return err
	}
	if m.Space.Coalitions.Size == 0 {
		v.skip("space.coalitions.source")
		if !slices.EqualFunc(m.Space.Coalitions.Sets, attackers.Coalitions()[1:], func(set []string, c []int) bool {
			return slices.Equal(set, v.labels(c))
		}) { // in the order of the attackers, each once
			return errors.New("space.coalitions.sets is not as it would be written")
		}
	}
	worst, err := n.WorstWithin(ctx, attackers, 1)
	if err != nil {
		return err
	}
	if !(worst.Value <= 1) {
		return fmt.Errorf("max [M_A⁻¹]_vv is %v, of node %q against %q: the noise hides less than it should", worst.Value,
			n.Labels[worst.Victim], v.labels(worst.Attacker))
	}
	says := m.Space.Worst
	nodes, victim := v.indices(says.Attacker), slices.Index(n.Labels, says.Victim)
	is := func(t secrets.Threat) bool {
		return slices.Equal(t.Attacker, nodes) && slices.Contains(t.Victims, victim)
	}
	of, err := v.learned(nodes, victim, attackers)
	if err != nil {
		return err
	}
	most, err := v.learned(worst.Attacker, worst.Victim, attackers) // made the same way: bounds differ by what they give away
	switch {
	case err != nil:
		return err
	case !(says.Value >= worst.Value*(1-sameMatrix) && says.Value <= 1): // more than can be proven now is a bound, too
		return fmt.Errorf("max [M_A⁻¹]_vv is %v; the manifest says %v", worst.Value, says.Value)
	case !(of >= most*(1-sameMatrix)) || !slices.ContainsFunc(attackers.Threats(), is):
		return fmt.Errorf("the most is learned of node %q by %q; the manifest says of %q by %q", n.Labels[worst.Victim],
			v.labels(worst.Attacker), says.Victim, says.Attacker)
	}
	v.add("space", true, "max [M_A⁻¹]_vv is %s at most, over %d coalitions and all others", textUp(worst.Value),
		len(attackers.Coalitions()))
	return nil
}

// learned returns what an attacker learns of a victim, by the victim's weight.
func (v *verification) learned(attacker []int, victim int, attackers *secrets.Attackers) (float64, error) {
	if len(slices.Compact(slices.Clone(attacker))) != len(attacker) {
		return 0, fmt.Errorf("the attacker %q of the manifest has a node twice", v.labels(attacker))
	}
	all, err := v.export.Shared.Learned(attacker)
	if err != nil {
		return 0, err
	}
	return all[victim] * attackers.Weight(victim), nil
}

// indices returns the indices of labels, which export.Load has found to exist.
func (v *verification) indices(labels []string) []int {
	all := lists.Map(labels, func(l string) int { return slices.Index(v.export.Shared.Labels, l) })
	slices.Sort(all)
	return all
}

func (v *verification) labels(nodes []int) []string {
	return lists.Map(nodes, func(i int) string { return v.export.Shared.Labels[i] })
}

// problem makes the problem again that the export is said to solve.
func (s *costs) problem() error {
	m := s.export.Manifest
	if m.Objective != "" || m.Weights != nil {
		return failed("objective", "noise that is shared is for the mean error, and compared with local DP alone")
	}
	setting := spacetime.Setting{LargestPair: m.Space.LargestPair}
	var err error
	if setting.Secrets, err = s.export.Shared.Graph(); err != nil {
		return err
	}
	if setting.Attackers, err = m.Attackers(s.export.Shared.Labels); err != nil {
		return err
	}
	if err := s.secretsAre(setting.Secrets); err != nil {
		return err
	}
	s.skip("space.largest_pair") // a bound that was asked for: the gaps are checked for it
	for _, p := range s.export.Shared.Pairs {
		if e := p.Deviation * p.Deviation; e > setting.LargestPair*(1+scaledLast) {
			return failed("secrets", "nodes %q share a variance of %v; the manifest says %v at most", s.labels([]int{p.U, p.V}), e,
				setting.LargestPair)
		}
	}
	s.p = spacetime.Problem{Schema: s.schema, Setting: setting}
	if s.p.Workload, err = workload.NewSpaceTime(s.n.Gossip.Matrix(), m.Steps, s.options()); err != nil {
		return err
	}
	s.p.Class, err = measure.ClassOf(m)
	return err
}

// scaledLast is how far above its bound a variance may be: the noise is scaled to what it is to hide after the search.
const scaledLast = 1e-4

// secretsAre compares who shares secrets, which are all pairs of the file, with what the manifest says.
func (s *costs) secretsAre(is *secrets.Graph) error {
	says, g := s.export.Manifest.Space.Secrets, s.n.Graph
	var want *secrets.Graph
	var err error
	switch {
	case says.SHA256 != "":
		s.skip("space.secrets.source") // the file is not needed
		want = is
	case says.Source == export.SecretsGossip:
		want = secrets.OfEdges(g)
	case says.Source == export.SecretsAll:
		want, err = secrets.Complete(g.Nodes())
	default:
		err = fmt.Errorf("%q is neither %s nor %s, and the manifest has no hash of a file", says.Source, export.SecretsGossip,
			export.SecretsAll)
	}
	if err == nil && !slices.Equal(is.Pairs(), want.Pairs()) {
		err = fmt.Errorf("the %d pairs are not those of %s", len(is.Pairs()), says.Source)
	}
	if err != nil {
		return failed("secrets", "%v", err)
	}
	s.again.Space = &export.Space{Secrets: export.Secrets{Pairs: len(is.Pairs())}}
	s.compare("secrets", "")
	return nil
}

// sharedLoss checks squared error and loss, and how the strategy compares with others, for this noise between nodes.
func (s *costs) sharedLoss(ctx context.Context) error {
	err := s.problem()
	if err != nil {
		return err
	}
	if s.h, err = s.p.Workload.TimeGram(ctx, s.export.Shared.Covariance()); err != nil {
		return err
	}
	s.objective = factorize.Mean(s.h)
	if err := s.quality(); err != nil {
		return err
	}
	var start *mat.SymDense
	dense := isDense(s.export.Manifest.Strategy)
	if dense {
		start = strategy.GramOf(s.c)
	}
	if s.time, err = s.optimum(ctx, s.h, s.schema, start); err != nil {
		return err
	}
	if dense {
		s.refuseRatio()
		return nil
	}
	s.ratio(s.time)
	s.skip("strategy.ratio") // its last digits
	return s.classBound(ctx)
}

// timeGap checks how far the strategy is said to be above the best of all for this noise between nodes.
func (s *costs) timeGap(context.Context) error {
	m := s.export.Manifest
	proven, _ := factorize.LowerBound(s.h, strategy.GramOf(s.c), s.schema) // an error: none
	s.gapIs("time gap", gapClaim{key: "space.gap_time", says: m.Space.GapTime, tolerance: m.Tolerance,
		proven: math.Max(proven, s.time.LowerBound), reached: s.time.Loss})
	return nil
}

// spaceGap checks how far the noise is said to be above the best between nodes for this strategy.
func (s *costs) spaceGap(ctx context.Context) error {
	m := s.export.Manifest
	const usual = 1e-5 // what a search ends at that is not asked for less
	aim := math.Max(spacetime.MinGap, math.Min(usual, m.Space.GapSpace))
	best, err := s.p.BestNoise(ctx, s.c, s.export.Shared.Noise, spacetime.SpaceOptions{Gap: aim})
	if err != nil {
		return err
	}
	s.gapIs("space gap", gapClaim{key: "space.gap_space", says: m.Space.GapSpace,
		tolerance: spacetime.GapBeside(m.Tolerance), proven: best.LowerBound * m.SensSquared,
		reached: best.Loss * m.SensSquared})
	return nil
}

// gapClaim is a gap of the manifest, the one that the search stopped at, and the bound and the loss of a search here.
type gapClaim struct {
	key                              string
	says, tolerance, proven, reached float64
}

// gapIs checks a gap. The bound that follows from it must not be above a loss that is reached; where it is above what
// is proven here, what is proven is said. A gap that is larger than what can be proven is one as well, up to the
// tolerance where the search says that it converged.
func (v *verification) gapIs(name string, c gapClaim) {
	m, proven, reached := v.export.Manifest, c.proven, c.reached
	bound, gap := m.Loss/(1+c.says), math.Max(0, (m.Loss-proven)/proven)
	converged := m.Status == optim.Converged.String()
	switch {
	case c.says == 0:
		v.add(name, false, "%s is 0, which no search can prove", c.key)
	case !(bound <= math.Max(proven, math.Min(reached, m.Loss))*(1+1e-12)):
		v.add(name, false, "%s is at least %v, since a loss of %v is reached; the manifest says %v", c.key,
			(m.Loss-reached)/reached, reached, c.says)
	case converged && c.says > 1.01*math.Max(c.tolerance, gap)+1e-9:
		v.add(name, false, "%s is %v at most; the manifest says %v, and that the search converged", c.key, gap, c.says)
	case bound <= proven*(1+1e-12):
		v.add(name, true, "within %s of the best", rounding.UpText(c.says, 3))
	default:
		v.add(name, true, "within %s of the best, as far as is proven again; %s, says the manifest, and nothing "+
			"contradicts it", rounding.UpText(gap, 3), rounding.UpText(c.says, 3))
	}
	v.skip(c.key) // its digits
}

// withoutSecrets computes again what the class costs without secrets.
func (s *costs) withoutSecrets(ctx context.Context) error {
	h, err := s.p.Workload.TimeGram(ctx, s.p.Alone())
	if err != nil {
		return err
	}
	if s.ldp, err = s.p.Class.Optimize(ctx, factorize.Mean(h), s.schema, factorize.Options{}); err != nil {
		return err
	}
	s.again.LDPLoss = s.ldp.Loss
	s.compare("local DP", "")
	s.skip("ldp_loss") // its last digits
	return nil
}

// joint computes the joint bound again.
func (s *costs) joint(ctx context.Context) error {
	m, best := s.export.Manifest, s.time
	if isDense(m.Strategy) {
		best = &factorize.Result{Strategy: s.c}
	}
	found := &spacetime.Result{Noise: s.export.Shared.Noise, Time: best, LDP: s.ldp}
	joint, err := spacetime.JointLowerBound(ctx, s.p, found)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.again.JointLowerBound, s.reached["joint_lower_bound"] = joint, spacetime.JointGap(s.p.Secrets)
	if m.Status == optim.Interrupted.String() && m.JointLowerBound < joint {
		s.again.JointLowerBound = m.JointLowerBound // there was no time for a better one
	}
	s.compare("joint bound", "")
	s.skip("joint_lower_bound") // its last digits
	return nil
}

// sharedBaselines measures what the noise is compared with.
func (s *costs) sharedBaselines(ctx context.Context) error {
	says := s.export.Manifest.Baselines
	var measured []baselines.Measured
	if len(says) > 1 {
		var err error
		if measured, err = baselines.Shared(ctx, s.p, s.c); err != nil {
			return err
		}
	}
	measured = append(measured, baselines.Measured{Name: baselines.LDPOptimal, Quality: s.ldp.Quality})
	s.baselinesAre([]string{baselines.LDPOptimal, baselines.DECOR, baselines.DECORInTime}, measured)
	return nil
}
