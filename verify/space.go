package verify

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/measure"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// space checks what attackers learn of noise that is shared: from the standard deviations as they are exported, for all
// attackers and victims, with all rounding. It fails only when ctx ends.
func (v *verification) space(ctx context.Context) error {
	m, n := v.export.Manifest, v.export.Shared
	if m.Space == nil {
		return nil
	}
	attackers, err := m.Attackers(n.Labels)
	if err != nil {
		v.add("space", false, "%v", err)
		return nil
	}
	if m.Space.Coalitions.Size == 0 {
		v.skip("space.coalitions.source")
		if !v.inOrder(attackers) {
			v.add("space", false, "space.coalitions.sets is not as it would be written")
			return nil
		}
	}
	worst, err := n.Within(ctx, attackers, 1)
	if err != nil {
		return v.computing("space", err)
	}
	says := m.Space.Worst
	of, err := v.learned(says, attackers)
	switch {
	case err != nil:
		v.add("space", false, "%v", err)
	case !(worst.Value <= 1):
		v.add("space", false, "max [M_A⁻¹]_vv is %v, of node %q against %q: the noise hides less than it should", worst.Value,
			n.Labels[worst.Victim], v.labels(worst.Attacker))
	case !(says.Value >= worst.Value*(1-sameMatrix) && says.Value <= 1): // more than can be proven now is a bound, too
		v.add("space", false, "max [M_A⁻¹]_vv is %v; the manifest says %v", worst.Value, says.Value)
	case !(of >= worst.Value*(1-sameMatrix)) || !slices.ContainsFunc(attackers.Threats(), v.matches(says)):
		v.add("space", false, "the most is learned of node %q by %q; the manifest says of %q by %q", n.Labels[worst.Victim],
			v.labels(worst.Attacker), says.Victim, says.Attacker)
	default:
		v.add("space", true, "max [M_A⁻¹]_vv is %s at most, over %d coalitions and all others", textUp(worst.Value),
			len(attackers.Coalitions()))
	}
	return nil
}

// inOrder reports whether coalitions are listed in the order that attackers are in, none twice.
func (v *verification) inOrder(a *secrets.Attackers) bool {
	sets := v.export.Manifest.Space.Coalitions.Sets
	return slices.EqualFunc(sets, a.Coalitions()[1:], func(set []string, c []int) bool {
		return slices.Equal(set, v.labels(c))
	})
}

// matches returns a test whether a threat is the one in the manifest.
func (v *verification) matches(w export.Worst) func(secrets.Threat) bool {
	nodes, victim := v.indices(w.Attacker), slices.Index(v.export.Shared.Labels, w.Victim)
	return func(t secrets.Threat) bool {
		return slices.Equal(t.Attacker, nodes) && slices.Contains(t.Victims, victim)
	}
}

// learned returns what the attacker of the manifest learns of the victim that it names, by the victim's weight.
func (v *verification) learned(w export.Worst, attackers *secrets.Attackers) (float64, error) {
	attacker := v.indices(w.Attacker)
	if len(slices.Compact(slices.Clone(attacker))) != len(attacker) {
		return 0, fmt.Errorf("the attacker %q of the manifest has a node twice", w.Attacker)
	}
	all, err := v.export.Shared.Learned(attacker)
	if err != nil {
		return 0, err
	}
	victim := slices.Index(v.export.Shared.Labels, w.Victim)
	return all[victim] * attackers.Weight(victim), nil
}

// indices returns the indices of labels, which export.Load has found to exist.
func (v *verification) indices(labels []string) []int {
	all := lists.Map(labels, func(l string) int { return slices.Index(v.export.Shared.Labels, l) })
	slices.Sort(all)
	return all
}

func (v *verification) labels(nodes []int) []string {
	all := []string{}
	for _, i := range nodes {
		all = append(all, v.export.Shared.Labels[i])
	}
	return all
}

// spaceCosts checks what a strategy costs with noise that is shared, and both gaps.
func (v *verification) spaceCosts(ctx context.Context, n *graph.Network, c strategy.Strategy) error {
	m, shared := v.export.Manifest, v.export.Shared
	switch {
	case m.Objective != "" || m.Weights != nil || m.PlainStrategyLoss != 0:
		v.add("objective", false, "noise that is shared is for the mean error, and compared with local DP alone")
		return nil
	case m.Gram != nil && m.Gram.Method != measure.GramExact.String():
		v.add("gram", false, "noise that is shared needs an exact Gram matrix; the manifest says %s", m.Gram.Method)
		return nil
	case n == nil || n.Graph.Nodes() != len(shared.Own):
		v.add("space", false, "noise of %d nodes is not that of the network", len(shared.Own))
		return nil
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	s := &spaceCheck{verification: v, c: c}
	if err := v.computing("loss", s.problem(n)); err != nil || s.p.Class == nil {
		return err
	}
	for _, check := range []struct {
		name string
		run  func(context.Context) error
	}{{"loss", s.loss}, {"time gap", s.timeGap}, {"local DP", s.withoutSecrets}, {"space gap", s.spaceGap},
		{"joint bound", s.joint}, {"baselines", s.baselines}} {
		if err := check.run(ctx); err != nil {
			return v.computing(check.name, err)
		}
	}
	return nil
}

// spaceCheck is what the checks of noise over nodes and steps have in common.
type spaceCheck struct {
	*verification
	p    spacetime.Problem
	c    strategy.Strategy // as exported
	h    *mat.SymDense     // H(M)
	time *factorize.Result // the best of all strategies for this noise between nodes
	ldp  *factorize.Result // the best of the class without secrets
}

// problem makes the problem again that the export is said to solve.
func (s *spaceCheck) problem(n *graph.Network) error {
	m := s.export.Manifest
	setting := spacetime.Setting{LargestPair: m.Space.LargestPair}
	var err error
	if setting.Secrets, err = s.export.Shared.Graph(); err != nil {
		return err
	}
	if setting.Attackers, err = m.Attackers(s.export.Shared.Labels); err != nil {
		return err
	}
	if !s.secretsAre(setting.Secrets, n) {
		return nil
	}
	s.skip("space.largest_pair") // a bound that was asked for: the gaps are checked for it
	for _, p := range s.export.Shared.Pairs {
		if e := p.Deviation * p.Deviation; e > setting.LargestPair*(1+scaledLast) {
			s.add("secrets", false, "nodes %q share a variance of %v; the manifest says %v at most",
				s.labels([]int{p.U, p.V}), e, setting.LargestPair)
			return nil
		}
	}
	s.p = spacetime.Problem{Schema: s.schema, Setting: setting}
	if s.p.Workload, err = workload.NewSpaceTime(n.Gossip.Matrix(), m.Steps, workload.Options{Spec: s.spec}); err != nil {
		return err
	}
	s.p.Class, err = measure.ClassOf(m)
	return err
}

// scaledLast is how far above its bound a variance may be: the noise is scaled to what it is to hide after the search.
const scaledLast = 1e-4

// secretsAre compares who shares secrets, which are all pairs of the file, with what the manifest says.
func (s *spaceCheck) secretsAre(is *secrets.Graph, n *graph.Network) bool {
	says := s.export.Manifest.Space.Secrets
	ok, err := true, error(nil)
	switch want := (*secrets.Graph)(nil); {
	case says.SHA256 != "":
		s.skip("space.secrets.source") // the file is not needed
	case says.Source == export.SecretsGossip:
		ok = slices.Equal(is.Pairs(), secrets.OfEdges(n.Graph).Pairs())
	case says.Source == export.SecretsAll:
		if want, err = secrets.Complete(n.Graph.Nodes()); err == nil {
			ok = slices.Equal(is.Pairs(), want.Pairs())
		}
	default:
		err = fmt.Errorf("%q is neither %s nor %s, and the manifest has no hash of a file", says.Source, export.SecretsGossip,
			export.SecretsAll)
	}
	switch {
	case err != nil:
		s.add("secrets", false, "%v", err)
	case !ok:
		s.add("secrets", false, "the %d pairs are not those of %s", len(is.Pairs()), says.Source)
	default:
		s.again.Space = &export.Space{Secrets: export.Secrets{Pairs: len(is.Pairs())}}
		return s.compare("secrets", fmt.Sprintf("%d pairs may share noise", len(is.Pairs())))
	}
	return false
}
