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

// answer says in a sentence what a plan promises, and answers the questions that its judge asks, the most pressing ones first. half
// is what a run has given away after half of the steps; nil: not known.
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
	p, of := promiseOf(m), m.Participation.Unit()
	unit, each, several := of+" at every node (one who takes part: a hospital, a firm)", "", ""
	switch of {
	case "silo":
		unit = "silo, with its whole update in every round,"
	case "record":
		each, several = ", with a record at each", " or has several records"
	}
	s.Answer = fmt.Sprintf("This is the promise: every %s is protected over all %d steps of the training%s; for specialists, %v.", unit, m.Steps,
		p.guess(of, m.Privacy.Adjacency), p)
	ask := func(question, format string, args ...any) {
		s.Questions = append(s.Questions, document.Fact{Name: question, Value: fmt.Sprintf(format, args...)})
	}
	if p.epsilon > 0 {
		ask("Is that good?", "It is %s on a common scale: ε up to 1 is strong, up to 10 reasonable, above that weak (Ponomareva et al., How to "+
			"DP-fy ML, 2023, doi:10.1613/jair.1.14649). That is a custom, no law. The plan is for fewer than %s %ss at all nodes "+
			"together, by a rough count: for more, let the engineer make one with a smaller δ. The rows below measure other cases in the same way.",
			strengthOf(p.epsilon), terminal.DecimalUp(math.Ceil(1/p.delta), 15), of)
	}
	whom := "whoever sees them and knows the noise of all other nodes"
	switch {
	case m.Space != nil && m.Space.Coalitions.Size == 1:
		whom = "whoever sees them, and against any one other node with all secrets that it holds"
	case m.Space != nil:
		whom = "whoever sees them, and against each coalition of nodes that was named with all secrets that its nodes hold"
	case m.Sampled():
		whom += ", but not which records were drawn"
	}
	kept := "and the keys of its noise must stay with it"
	if m.Space != nil {
		kept += ", and keys that two nodes share must stay with these two"
	}
	if m.Sampled() {
		kept += ", as must which records are drawn, and how many"
	}
	ask("Who may see what?", "Everybody may see all messages, models, this plan and this page: the promise holds against %s. A node's data %s.",
		whom, kept)
	also, collude := "", "The promise stays: it holds against all others together, since the noise of a node is its own."
	if m.Space != nil {
		collude = fmt.Sprintf("Against all others together, or any group of them: %s.", p.says(1/slices.Min(e.Shared.Own), 1))
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
			also = ", and if two other nodes collude " + p.says(2*math.Sqrt(worst.Value), 2)
			collude = fmt.Sprintf("Against two that put together what they know: %s. %s", p.says(math.Sqrt(worst.Value), 1), collude)
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
			all = fmt.Sprintf("; for all %d %s", nodes, at(nodes))
		}
		ask("What if somebody is at two nodes?", "Whoever is in the data of two%s, such as a patient of two hospitals, is protected less: for both "+
			"together %s%s; for three %s%s.", each, at(2), also, at(3), all)
	}
	if half != nil {
		var given promise
		if half.Mu != nil {
			given.mu = *half.Mu
		}
		if half.Epsilon != nil {
			given.epsilon, given.delta = *half.Epsilon, *half.Delta
		}
		ask("What if training stops early?", "Less is given away: after %d of %d steps %s. But only if whoever stops it looks at nothing "+
			"in the data, and so not at how good the models are; otherwise the promise is that of the whole plan.", half.Steps, m.Steps, given.says(1, 1))
	}
	check := from.commands()
	ask("What must we do?", "1. Let your engineer run “%s” before the training: it computes the promise again from the plan's files. If a line says FAILED, "+
		"do not begin.\n2. Name who answers at every node for the contract (further down, “What every node has to do”): also that data and keys stay, "+
		"and that besides the messages nothing is sent that the data decide, such as error rates.\n3. You decide if these numbers are good enough, also for "+
		"whoever is at two nodes%s.", check[len(check)-1].Line, several)
	switch records := "What if somebody has several records at a node?"; {
	case of == "silo": // all of them are in one update
	case of == "person":
		ask(records, "All of them together have the promise.")
	case p.mu == 0:
		ask(records, "Each record has the promise, but not all together: ask for a plan for persons, which protects all records of a person at a node.")
	default:
		ask(records, "Each record has the promise; two together: %s; three: %s. Ask for a plan for persons, which protects all "+
			"records of a person at a node together.",
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
	ask("What does it cost?", "%s", costOf(m))
	ask("Is it checked?", "This is a plan, written by mafalda %s on %s, and not a run. Its files are those that were written, by their hashes.",
		m.Version, written.ModTime().UTC().Format(time.DateOnly))
	return nil
}

// strengthOf names an ε on the scale of Ponomareva et al.
func strengthOf(epsilon float64) string {
	switch {
	case epsilon <= 1:
		return "strong"
	case epsilon <= 10:
		return "reasonable"
	}
	return "weak"
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

// weaker returns the guarantee where noise hides so many times less, or, without a μ, of so many parts.
func (p promise) weaker(times float64, parts int) promise {
	if p.mu == 0 {
		return promise{epsilon: float64(parts) * p.epsilon, delta: float64(parts) * p.delta}
	}
	if times > 1 {
		p.mu *= times * (1 + 1e-12)
		p.epsilon, _ = accounting.Epsilon(p.mu, p.delta) // none without a δ
	}
	return p
}

// String says what is promised, rounded up.
func (p promise) String() string {
	if p.epsilon == 0 || p.mu > 0 && p.delta == 0 {
		return "μ = " + terminal.DecimalUp(p.mu, 4)
	}
	return fmt.Sprintf("ε = %s for δ = %s", terminal.DecimalUp(p.epsilon, 4), terminal.DecimalUp(p.delta, 4))
}

// says returns the weaker guarantee, without a δ that stays: how often a guess is right, how strong that is, and its number.
func (p promise) says(times float64, parts int) string {
	w := p.weaker(times, parts)
	number, strength := strings.TrimSuffix(w.String(), " for δ = "+terminal.DecimalUp(p.delta, 4)), ""
	if w.epsilon > 0 {
		strength = ", " + strengthOf(w.epsilon)
	}
	if right := w.right(); right != "" {
		return fmt.Sprintf("at most %s\u00a0%%%s (%s)", right, strength, number)
	}
	return number + strength
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
	return fmt.Sprintf(". Whoever guesses whether this %s is in the data %s, when a coin has decided that, is right with a probability of at most %s %%, "+
		"where mere chance has 50 %% and certainty 100 %%", unit, other, right)
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
