package report

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mafalda/accounting"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize/baselines"
	"mafalda/noise"
	"mafalda/secrets"
)

// answer says in three sentences what a plan promises, what it costs and whether that was checked, and answers the questions that
// its judge asks. half is what a run has given away after half of the steps; nil: not known.
func (s *Section) answer(ctx context.Context, from *Source, half *noise.Spent) error {
	e, m := from.Export, from.Export.Manifest
	if m.Privacy == nil || m.Budgets != nil && m.Space != nil || e.CheckHashes() != nil {
		return nil // who shares noise with nodes of other levels has no single promise
	}
	written, err := os.Stat(filepath.Join(from.Dir, export.ManifestName))
	if err != nil {
		return err
	}
	s.Contract = m.Contract
	p := promiseOf(m)
	whom := "whoever sees all messages and knows the noise of all other nodes"
	switch {
	case m.Space != nil && m.Space.Coalitions.Size == 1:
		whom = "whoever sees all messages, and against any one other node with all secrets that this node holds"
	case m.Space != nil:
		whom = "whoever sees all messages, and against each coalition of nodes that was named with all secrets that its nodes hold"
	case m.Sampled():
		whom += ", but not which records were drawn"
	}
	unit := m.Participation.Unit() + " at every node (one who takes part: a hospital, a firm)"
	if m.Participation.Unit() == "silo" {
		unit = "silo, with its whole update in every round,"
	}
	s.Answer = []string{fmt.Sprintf("Every %s is protected over all %d steps: %s%s. That holds against %s.",
		unit, m.Steps, p.guarantee(1, 1), p.guess(m.Participation.Unit(), m.Privacy.Adjacency), whom), costOf(m),
		fmt.Sprintf("This is a plan, written by mafalda %s on %s, and not a run. Its files are those that were written, by their hashes; that "+
			"the promise follows from them is computed again by the command at the end.", m.Version, written.ModTime().UTC().Format(time.DateOnly))}
	ask := func(question, format string, args ...any) {
		s.Questions = append(s.Questions, document.Fact{Name: question, Value: fmt.Sprintf(format, args...)})
	}
	seen := "All messages and models, and this plan, may be seen by everybody. The keys of a node's noise must stay with that node"
	if m.Space != nil {
		seen = strings.TrimSuffix(seen, "that node") + "it, and those of a pair with its two nodes"
	}
	if m.Sampled() {
		seen += ", as must which records are drawn, and how many"
	}
	ask("Who may see what?", "%s.", seen)
	collude := "The promise stays: it holds against all others together, since the noise of a node is its own."
	if m.Space != nil {
		collude = fmt.Sprintf("All others together, and so any of them: %s.", p.says(1/slices.Min(e.Shared.Own), 1))
		const most = 100 // nodes whose pairs are looked at in a moment
		if nodes := len(e.Shared.Own); nodes <= most {
			two, err := secrets.Colluding(nodes, 2)
			if err != nil {
				return err
			}
			worst, err := e.Shared.Worst(ctx, two)
			if err != nil {
				return err
			}
			collude = fmt.Sprintf("Any two of them: %s. %s", p.says(math.Sqrt(worst.Value), 1), collude)
		}
	}
	ask("What if nodes collude?", "%s", collude)
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	if nodes := len(labels); nodes != 1 {
		at := func(n int) string {
			times := math.Sqrt(float64(n))
			if m.Space != nil {
				times = float64(n) // what pairs share may cancel in one node's favour, and in the other's
			}
			return p.says(times, n)
		}
		all := ""
		if nodes > 3 {
			all = fmt.Sprintf(", at all %d %s", nodes, at(nodes))
		}
		ask("What if somebody is at several nodes?", "The promise is weaker for all of that together, a %s at each: at two nodes %s, at three %s%s.", m.Participation.Unit(),
			at(2), at(3), all)
	}
	switch records := "What if somebody has several records at a node?"; {
	case m.Participation.Unit() == "silo": // all of them are in one update
	case m.Participation.Unit() == "person":
		ask(records, "All of them together have the promise.")
	case p.mu == 0:
		ask(records, "Each of them has the promise, but not all together: that takes a plan for persons.")
	default:
		ask(records, "Each of them has the promise; two together have %s, three %s. A plan for persons would hide all of them together.",
			p.says(2, 2), p.says(3, 3))
	}
	missed, shared := "none", ""
	if w := m.WorkloadSpec; w != nil && w.MissedSteps > 0 {
		missed = fmt.Sprintf("%.3g %%", 100*w.MissedSteps)
	}
	if m.Space != nil {
		shared = ", and what others share with a lost node stays in them"
	}
	ask("What if a node misses steps, or is lost?", "The promise stays, if who misses which step depends on nothing in the data, and the node keeps to the contract. "+
		"The models suffer: the plan is for nodes that miss %s of their steps%s.", missed, shared)
	if half != nil {
		given := half.String()
		if half.Epsilon != nil {
			given = promise{epsilon: *half.Epsilon, delta: *half.Delta}.guarantee(1, 1)
		}
		ask("What if training stops early?", "No more is given away: after %d of %d steps %s. That holds if the end depends on nothing in "+
			"the data, and so not on how good the models are; otherwise the promise for the whole plan holds.", half.Steps, m.Steps, given)
	}
	ask("What must we do?", "Let an engineer run the first command at the end, which computes the promise again from the folder of the plan. Keep to the contract on this page at every node. "+
		"Send nothing else that depends on the data.")
	return nil
}

// promise is a guarantee: of Gaussian noise by its μ, of batches in secret by ε and δ alone.
type promise struct{ mu, epsilon, delta float64 }

// promiseOf returns the guarantee of a manifest, at the node with the loosest one.
func promiseOf(m *export.Manifest) (p promise) {
	p.mu = m.Privacy.Mu
	for _, level := range m.Budgets {
		p.mu = max(p.mu, level.Mu)
	}
	if m.Budgets == nil && m.Privacy.Epsilon != nil {
		p.epsilon, p.delta = *m.Privacy.Epsilon, *m.Privacy.Delta
	}
	return p
}

// guarantee says what is promised where noise hides so many times less, or, without a μ, for so many times ε and δ: rounded up.
func (p promise) guarantee(times float64, parts int) string {
	epsilon, delta := float64(parts)*p.epsilon, float64(parts)*p.delta
	if p.mu > 0 {
		mu := p.mu
		if times > 1 {
			mu *= times * (1 + 1e-12)
		}
		larger, err := accounting.Epsilon(mu, p.delta)
		if p.delta == 0 || err != nil {
			return "μ = " + terminal.DecimalUp(mu, 4)
		}
		if delta = p.delta; times > 1 {
			epsilon = larger
		}
	}
	return fmt.Sprintf("ε = %s for δ = %g", terminal.DecimalUp(epsilon, 4), delta)
}

// says returns the guarantee, and what it means for an attacker who guesses.
func (p promise) says(times float64, parts int) string {
	right := promise{mu: p.mu * max(1, times) * (1 + 1e-12)}.right()
	if right == "" {
		return p.guarantee(times, parts)
	}
	return fmt.Sprintf("%s (a guess is right at most %s %%)", p.guarantee(times, parts), right)
}

// right returns the largest probability, in percent, that a guess of a coin by what is released is right; empty without a μ.
func (p promise) right() string {
	advantage, err := accounting.Delta(p.mu, 0)
	if p.mu == 0 || err != nil {
		return ""
	}
	return terminal.DecimalUp(50*(1+advantage), 3)
}

// guess says what the guarantee means for an attacker who guesses; empty without a μ.
func (p promise) guess(unit, adjacency string) string {
	right := p.right()
	if right == "" {
		return ""
	}
	other := "or not"
	if adjacency == accounting.ReplaceOne.String() {
		other = "or another"
	}
	return fmt.Sprintf(". Whoever guesses whether this %s is in the data %s, when a coin has decided that, is right with a probability of at most %s %%, where chance has 50 %%", unit,
		other, right)
}

// costOf says what the noise costs beside ordinary noise with the same promise.
func costOf(m *export.Manifest) string {
	ordinary, beside := m.Baselines[baselines.DPDSGD].Loss/m.Loss, "ordinary noise (of every node's own, anew in every step)"
	switch {
	case m.Space != nil:
		ordinary, beside = m.LDPLoss/m.Loss, "the best noise of every node's own"
	case m.Sampled():
		ordinary, beside = m.CyclicErrorAtPrivacy/m.ErrorAtPrivacy, "the best noise for batches in turn"
	}
	if ordinary == 0 || math.IsNaN(ordinary) {
		return "What its noise costs beside ordinary noise was not computed when it was made."
	}
	return fmt.Sprintf("For the same promise its noise disturbs the models %.3g times as much (by its squared error, so less is better) as %s.", 1/ordinary, beside)
}
