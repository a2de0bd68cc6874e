package results

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize/baselines"
	"mafalda/factorize/spacetime"
	"mafalda/optim"
)

// sharing says who shares noise, and who puts together what they know.
func (r *Summary) sharing() {
	s := r.Manifest.Space
	from := map[string]string{export.SecretsGossip: "the edges of the graph", export.SecretsAll: "all pairs of nodes"}[s.Secrets.Source]
	if from == "" {
		from = s.Secrets.Source
	}
	r.Fact("secrets", "%s may share noise: %s", terminal.Count(s.Secrets.Pairs, "pair"), from)
	who := "single curious nodes"
	switch {
	case s.Coalitions.Size == 2:
		who = "any two curious nodes together"
	case s.Coalitions.Size == 0:
		who = fmt.Sprintf("%s of curious nodes, %s", terminal.Count(len(s.Coalitions.Sets), "coalition"), s.Coalitions.Source)
	}
	r.Fact("attackers", "%s, and everybody who sees all messages", who)
	named := slices.Sorted(slices.Values(slices.Concat(s.Coalitions.Sets...)))
	if trusted := r.Manifest.Graph.Nodes - len(slices.Compact(named)); s.Coalitions.Size == 0 && trusted > 0 {
		r.Fact("trusted", "%s in no coalition: what these learn from the secrets of their pairs is not bounded",
			terminal.Count(trusted, "node"))
	}
}

// spaceAndTime compares noise over nodes and steps with noise over steps alone, and says what is proven, and what a node
// draws.
func (r *Summary) spaceAndTime() {
	m := r.Manifest
	name := "space and time"
	if m.Status != optim.Converged.String() {
		name += " (so far)"
	}
	t := document.Table{Caption: "Noise between nodes and over time, at equal privacy", Words: 1}
	row := func(name string, b export.Baseline) {
		pairs := []string{"noise", name, "sens²", terminal.NumberUp(b.SensSquared), "squared error", terminal.NumberUp(b.SquaredError),
			"loss", terminal.NumberUp(b.Loss), "ratio to LDP", fmt.Sprintf("%.4f", b.Loss/m.LDPLoss)}
		if m.ErrorAtPrivacy > 0 {
			pairs = append(pairs, "error at privacy", terminal.NumberUp(b.ErrorAtPrivacy))
		}
		t.Row(pairs...)
	}
	row(name, export.Baseline{SensSquared: m.SensSquared, SquaredError: m.SquaredError, Loss: m.Loss, ErrorAtPrivacy: m.ErrorAtPrivacy})
	for _, b := range []struct{ name, about string }{{baselines.DECORInTime, "DECOR, this strategy"}, {baselines.DECOR, "DECOR"},
		{baselines.LDPOptimal, "LDP optimum"}} {
		if of, ok := m.Baselines[b.name]; ok {
			if of.Loss < m.Loss {
				b.about += " (less, within the gap)"
			}
			row(b.about, of)
		}
	}
	r.Table(t)
	r.Fact("between nodes", "gap %s: no noise of these pairs has a smaller loss with this strategy, but for that",
		terminal.DecimalUp(m.Space.GapSpace, 2))
	r.Fact("over time", "gap %s: no strategy has a smaller loss with this noise between nodes, but for that",
		terminal.DecimalUp(m.Space.GapTime, 2))
	r.Fact("together", "%s: no %s has a smaller loss (%.4f of this one)", terminal.DecimalDown(m.JointLowerBound, 10),
		spacetime.Separable, m.JointLowerBound/m.Loss)
	w := m.Space.Worst
	attacker := "the eavesdropper"
	if len(w.Attacker) > 0 {
		attacker = strings.Join(w.Attacker, " and ")
	}
	r.Fact("most is seen", "by %s, of %s: [M_A⁻¹]_vv = %s", attacker, w.Victim, terminal.DecimalUp(w.Value, 12))
	r.Fact("node", "keeps %d numbers and does %d operations a step, for each model parameter, and draws a row more "+
		"for each neighbour", m.Strategy.MemoryFloats, m.Strategy.FlopsPerStep)
}
