package plan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// space checks what attackers learn of noise that is shared: from the standard deviations as they are exported, for all
// attackers and victims, with all rounding. The error is that of ctx.
func (v *verification) space(ctx context.Context) error {
	m, n := v.export.Manifest, v.export.Shared
	if m.Space == nil {
		return nil
	}
	attackers, err := m.Space.Coalitions.Attackers(n.Labels)
	if err != nil {
		v.add("space", false, "%v", err)
		return nil
	}
	if m.Space.Coalitions.Source != "" {
		v.skip("space.coalitions.source")
	}
	worst, err := n.Worst(ctx, attackers)
	if err != nil {
		return v.computing("space", err)
	}
	says := m.Space.Worst
	of, err := v.learned(says)
	switch {
	case err != nil:
		v.add("space", false, "%v", err)
	case !(worst.Value <= 1):
		v.add("space", false, "max [M_A⁻¹]_vv is %v, of node %q against %q: the noise hides less than it should", worst.Value,
			n.Labels[worst.Victim], v.labels(worst.Attacker))
	case !(math.Abs(says.Value-worst.Value) <= sameMatrix*worst.Value):
		v.add("space", false, "max [M_A⁻¹]_vv is %v; the manifest says %v", worst.Value, says.Value)
	case !(of >= worst.Value*(1-sameMatrix)) || !attackers.Allow(v.indices(says.Attacker)):
		v.add("space", false, "the most is learned of node %q by %q; the manifest says of %q by %q", n.Labels[worst.Victim],
			v.labels(worst.Attacker), says.Victim, says.Attacker)
	default:
		v.add("space", true, "max [M_A⁻¹]_vv is %s at most, over %d coalitions and all others", up(worst.Value),
			len(attackers.Coalitions()))
	}
	return nil
}

// learned returns what the attacker of the manifest learns of the victim that it names.
func (v *verification) learned(w export.Worst) (float64, error) {
	attacker := v.indices(w.Attacker)
	if len(slices.Compact(slices.Clone(attacker))) != len(attacker) {
		return 0, fmt.Errorf("the attacker %q of the manifest has a node twice", w.Attacker)
	}
	all, err := v.export.Shared.Learned(attacker)
	if err != nil {
		return 0, err
	}
	return all[slices.Index(v.export.Shared.Labels, w.Victim)], nil
}

// indices returns those of labels, which export.Load has found to be there.
func (v *verification) indices(labels []string) []int {
	var all []int
	for _, l := range labels {
		all = append(all, slices.Index(v.export.Shared.Labels, l))
	}
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
	case m.Gram != nil && m.Gram.Method != GramExact.String():
		v.add("gram", false, "noise that is shared needs an exact Gram matrix; the manifest says %s", m.Gram.Method)
		return nil
	case n == nil || n.Graph.Nodes() != len(shared.Own):
		v.add("space", false, "noise of %d nodes is not that of the network", len(shared.Own))
		return nil
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	w, err := workload.NewSpaceTime(n.Gossip.Matrix(), m.Steps, workload.Options{Spec: v.spec})
	if err != nil {
		return v.computing("loss", err)
	}
	h, err := w.TimeGram(ctx, shared.Covariance())
	if err != nil {
		return v.computing("loss", err)
	}
	q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema)
	if err != nil {
		return v.computing("loss", err)
	}
	v.lossIs(q)
	if err := v.timeGap(ctx, c, h); err != nil {
		return v.computing("time gap", err)
	}
	class, err := classOf(m)
	if err != nil {
		return v.computing("strategy", err)
	}
	ldp, err := v.withoutSecrets(ctx, w, class)
	if err != nil {
		return v.computing("local DP", err)
	}
	return v.computing("space gap", v.spaceGap(ctx, n, c, spacetime.Problem{Workload: w, Schema: v.schema, Class: class}, ldp))
}

// timeGap checks how far the strategy is said to be above the best one for this noise over the nodes: the bound that
// follows must be proven, or at least not be above what some strategy reaches.
func (v *verification) timeGap(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	says := m.Loss / (1 + m.Space.GapTime)
	var proven float64
	if participation.IsPartition(v.schema) {
		proven, _ = factorize.LowerBound(h, strategy.GramOf(c), v.schema) // an error: none
	}
	reached := math.Inf(1)
	if says > proven {
		best, err := v.bestInTime(ctx, h)
		if err != nil {
			return err
		}
		reached, proven = best.Loss, math.Max(proven, best.Bound())
		if !participation.IsPartition(v.schema) { // a search proves more than the relaxation
			bound, err := factorize.OverlapBound(ctx, h, strategy.GramOf(c), v.schema)
			if err != nil {
				return err
			}
			proven, reached = math.Max(proven, bound), math.Max(proven, bound)*(1+searched)
		}
	}
	v.gapIs("time gap", "space.gap_time", m.Space.GapTime, proven, reached)
	return nil
}

// bestInTime returns the best strategy for a Gram matrix that gaps are measured from: of the class if that has a
// certificate, else of all.
func (v *verification) bestInTime(ctx context.Context, h *mat.SymDense) (*factorize.Result, error) {
	class, err := classOf(v.export.Manifest)
	if err != nil {
		return nil, err
	}
	schema := v.schema
	if !class.Traits().Certified || !participation.IsPartition(schema) {
		class, schema = factorize.Dense{}, participation.Relaxation(schema)
	}
	return class.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{Gap: v.fineGap()})
}

// gapIs checks a gap: the bound that follows from it must be proven, or not be above a loss that is reached. Where the
// search ended as it should, the gap is not above the tolerance or what can be proven; how far below is not checked.
func (v *verification) gapIs(name, key string, says, proven, reached float64) {
	m := v.export.Manifest
	bound := m.Loss / (1 + says)
	switch {
	case !(bound <= math.Max(proven, math.Min(reached, m.Loss))*(1+1e-12)):
		v.add(name, false, "%s is at least %v, since a loss of %v is reached; the manifest says %v", key,
			(m.Loss-reached)/reached, reached, says)
	case says > 1.01*math.Max(m.Tolerance, (m.Loss-proven)/proven)+1e-9 && m.Status == "converged":
		v.add(name, false, "%s is %v at most; the manifest says %v, and that the search converged", key,
			(m.Loss-proven)/proven, says)
	default:
		v.add(name, true, "within %s of the best", rounding.UpText(says, 3))
	}
	v.skip(key) // its digits
}

// withoutSecrets computes again what the class costs without secrets.
func (v *verification) withoutSecrets(ctx context.Context, w *workload.SpaceTime,
	class factorize.Class) (*factorize.Result, error) {
	m := v.export.Manifest
	one := mat.NewSymDense(w.Nodes(), nil)
	for i := range w.Nodes() {
		one.SetSym(i, i, 1)
	}
	h, err := w.TimeGram(ctx, one)
	if err != nil {
		return nil, err
	}
	best, err := class.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{})
	if err != nil {
		return nil, err
	}
	within := 2 * math.Max(m.Tolerance, 1e-6)
	v.compare("local DP", fmt.Sprintf("without secrets the class costs %s, and so %s times as much", up(best.Loss),
		rounding.UpText(best.Loss/m.Loss, 4)), claim{"ldp_loss", m.LDPLoss, best.Loss, within})
	v.skip("ldp_loss") // its last digits
	return best, nil
}

// spaceGap checks how far the noise is said to be above the best over the nodes for this strategy, and the joint bound.
// Both depend on who shares secrets.
func (v *verification) spaceGap(ctx context.Context, n *graph.Network, c strategy.Strategy, p spacetime.Problem,
	ldp *factorize.Result) error {
	m, shared := v.export.Manifest, v.export.Shared
	var err error
	if p.Secrets, err = v.secretGraph(n); err != nil || p.Secrets == nil {
		return err
	}
	if p.Attackers, err = m.Space.Coalitions.Attackers(shared.Labels); err != nil {
		return err
	}
	best, err := p.Against(ctx, c, shared.Noise, spacetime.SpaceOptions{})
	if err != nil {
		return err
	}
	v.gapIs("space gap", "space.gap_space", m.Space.GapSpace, best.LowerBound*m.SensSquared, best.Loss*m.SensSquared)
	joint, err := spacetime.JointLowerBound(ctx, p, &spacetime.Result{Noise: shared.Noise,
		Time: &factorize.Result{Strategy: c}, LDP: ldp}, spacetime.Options{})
	if err != nil {
		return err
	}
	v.compare("joint bound", fmt.Sprintf("no noise costs less than %s, %s of the loss; the manifest says %s", down(joint),
		rounding.DownText(joint/m.Loss, 4), down(m.JointLowerBound)),
		claim{"joint_lower_bound", m.JointLowerBound, joint, jointSearched})
	v.skip("joint_lower_bound") // its last digits
	return nil
}

// jointSearched is how far apart the joint bounds of two searches may be: each is within 1e-4 of the best there is.
const jointSearched = 2e-4

// secretGraph returns who shares secrets, compared with what the manifest says; nil, with a check or a note, where that
// cannot be known or is not so.
func (v *verification) secretGraph(n *graph.Network) (*secrets.Graph, error) {
	says := v.export.Manifest.Space.Secrets
	g := v.secrets
	switch {
	case g != nil && says.SHA256 != v.secretsHash:
		v.add("secrets", false, "the file of pairs has the SHA-256 %s; the manifest says %q", v.secretsHash, says.SHA256)
		return nil, nil
	case g != nil:
		v.skip("space.secrets.source")
	case says.SHA256 != "":
		v.Missing.Secrets = says.Source
		v.skip("space.secrets", "space.gap_space", "joint_lower_bound")
		return nil, nil
	case says.Source == export.SecretsGossip:
		g = secrets.OfEdges(n.Graph)
	case says.Source == export.SecretsAll:
		all, err := secrets.Complete(n.Graph.Nodes())
		if err != nil {
			return nil, err
		}
		g = all
	default:
		v.add("secrets", false, "%q is neither %s nor %s, and the manifest has no hash of a file", says.Source,
			export.SecretsGossip, export.SecretsAll)
		return nil, nil
	}
	for _, p := range v.export.Shared.Pairs {
		if _, ok := slices.BinarySearchFunc(g.Pairs(), p.Pair, func(a, b secrets.Pair) int {
			if a.U != b.U {
				return a.U - b.U
			}
			return a.V - b.V
		}); !ok {
			v.add("secrets", false, "%q and %q share noise, but no secret", v.export.Shared.Labels[p.U],
				v.export.Shared.Labels[p.V])
			return nil, nil
		}
	}
	ok := v.compare("secrets", fmt.Sprintf("%d pairs, %d of which share noise", len(g.Pairs()), len(v.export.Shared.Pairs)),
		claim{"space.secrets.pairs", float64(says.Pairs), float64(len(g.Pairs())), 0})
	if !ok {
		return nil, nil
	}
	return g, nil
}
