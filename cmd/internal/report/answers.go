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
// whoever has to decide about it asks. half is what a run has given away after half of the steps; nil: not known.
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
		whom = "whoever sees all messages, and every other node, although it knows the noise that it shares with neighbours"
	case m.Space != nil:
		whom = "whoever sees all messages, and the coalitions of nodes that were named, although they know the noise that they share"
	case m.Sampled():
		whom += ", but not which records were drawn"
	}
	s.Answer = []string{fmt.Sprintf("Every %s at every node is protected, over all %d steps, against %s: %s%s.", m.Participation.Unit(), m.Steps, whom,
		p.of(1, 1), p.guess(m.Privacy.Adjacency)), costOf(m),
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
	collude := "The promise stays: it is against all others together, since the noise of a node is its own."
	if m.Space != nil {
		collude = fmt.Sprintf("All others together: %s.", p.of(1/slices.Min(e.Shared.Own), 1))
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
			collude = fmt.Sprintf("Any two of them: %s. %s", p.of(math.Sqrt(worst.Value), 1), collude)
		}
	}
	ask("What if nodes collude?", "%s", collude)
	twice := math.Sqrt2
	if m.Space != nil {
		twice = 2 // what pairs share may cancel in one node's favour, and in the other's
	}
	once := "Once at each, both together"
	if m.Participation.Unit() == "record" {
		once = "With one record at each, both together (of several records at one node each is protected, not all together)"
	}
	ask("What if somebody is at two nodes?", "%s: %s.", once, p.of(twice, 2))
	if half != nil {
		given := half.String()
		if half.Epsilon != nil {
			given = promise{epsilon: *half.Epsilon, delta: *half.Delta}.of(1, 1)
		}
		ask("What if training stops early?", "No more is given away: after %d of %d steps %s. That holds if the end does not depend on "+
			"the data; otherwise the promise for the whole plan does.", half.Steps, m.Steps, given)
	}
	ask("What must we do?", "Keep to the contract on this page at every node, and send nothing else that depends on the data.")
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

// of says the guarantee where noise hides so many times less, or, without a μ, for so many times ε and δ: rounded up.
func (p promise) of(times float64, parts int) string {
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

// guess says what the guarantee means for somebody who guesses; empty where there is no μ.
func (p promise) guess(adjacency string) string {
	advantage, err := accounting.Delta(p.mu, 0)
	if p.mu == 0 || err != nil {
		return ""
	}
	other := "without it"
	if adjacency == accounting.ReplaceOne.String() {
		other = "with another in its place"
	}
	return fmt.Sprintf(" (a guess between data with it and data %s, as likely before, is right with a probability of at most %s %%)", other,
		terminal.DecimalUp(50*(1+advantage), 3))
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
	return fmt.Sprintf("For the same promise its noise disturbs the models %.3g times as much (by its squared error) as %s.", 1/ordinary, beside)
}
