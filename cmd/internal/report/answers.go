package report

import (
	"context"
	"embed"
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

//go:embed pages
var pages embed.FS

// answers are what a judge of a plan asks.
type answers struct {
	*export.Manifest
	Promise, Given promise      // the plan's, and that of Half
	Half           *noise.Spent // what a run has given away after half of the steps; nil: not known
	Nodes          int
	Alone          float64 // how many times less noise hides from all others together, where nodes share it
	Together       float64 // squared, the same from any two others; 0: not known
	Check          string  // command that checks the plan
	Written        string  // date
}

var answersPage = document.Page[*answers](pages, "answers")

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
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	check := from.commands()
	a := &answers{Manifest: m, Promise: promiseOf(m), Half: half, Nodes: len(labels), Check: check[len(check)-1].Line,
		Written: written.ModTime().UTC().Format(time.DateOnly)}
	if half != nil {
		a.Given = promiseBy(half.Mu, half.Epsilon, half.Delta)
	}
	if m.Space != nil {
		a.Alone = 1 / slices.Min(e.Shared.Own)
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
			a.Together = worst.Value
		}
	}
	d := answersPage(a)
	s.Contract, s.Answer, s.Questions = m.Contract, d.Lead, d.Summary
	return nil
}

// At returns the guarantee for who is at several nodes.
func (a *answers) At(nodes int) string {
	times := math.Sqrt(float64(nodes))
	if a.Space != nil {
		times = float64(nodes) // what pairs share may cancel in one node's favour, and in the other's
	}
	return a.Promise.Says(times, nodes)
}

// Missed is the share of the steps that nodes may miss.
func (a *answers) Missed() float64 {
	if a.WorkloadSpec == nil {
		return 0
	}
	return a.WorkloadSpec.MissedSteps
}

// Cost is the squared error over that of ordinary noise with the same promise; 0: not known.
func (a *answers) Cost() float64 {
	ordinary := a.Baselines[baselines.DPDSGD].Loss / a.Loss
	switch {
	case a.Space != nil:
		ordinary = a.LDPLoss / a.Loss
	case a.Sampled():
		ordinary = a.CyclicErrorAtPrivacy / a.ErrorAtPrivacy
	}
	if ordinary == 0 || math.IsNaN(ordinary) {
		return 0
	}
	return 1 / ordinary
}

// promise is a guarantee: of Gaussian noise by its μ, of batches in secret by ε and δ alone.
type promise struct{ Mu, Epsilon, Delta float64 }

// promiseBy returns the guarantee of numbers, as far as there are any.
func promiseBy(mu, epsilon, delta *float64) (p promise) {
	if mu != nil {
		p.Mu = *mu
	}
	if epsilon != nil {
		p.Epsilon, p.Delta = *epsilon, *delta
	}
	return p
}

// promiseOf returns the guarantee of a manifest, at the node with the loosest one.
func promiseOf(m *export.Manifest) promise {
	if m.Budgets == nil {
		return promiseBy(&m.Privacy.Mu, m.Privacy.Epsilon, m.Privacy.Delta)
	}
	p := promise{Mu: m.Privacy.Mu}
	for _, level := range m.Budgets {
		p.Mu = max(p.Mu, level.Mu)
	}
	return p
}

// weaker returns the guarantee where noise hides so many times less, or, without a μ, of so many parts.
func (p promise) weaker(times float64, parts int) promise {
	if p.Mu == 0 {
		return promise{Epsilon: float64(parts) * p.Epsilon, Delta: float64(parts) * p.Delta}
	}
	if times > 1 {
		p.Mu *= times * (1 + 1e-12)
		p.Epsilon, _ = accounting.Epsilon(p.Mu, p.Delta) // none without a δ
	}
	return p
}

// String says what is promised, rounded up.
func (p promise) String() string {
	if p.Epsilon == 0 || p.Mu > 0 && p.Delta == 0 {
		return "μ = " + terminal.DecimalUp(p.Mu, 4)
	}
	return fmt.Sprintf("ε = %s for δ = %s", terminal.DecimalUp(p.Epsilon, 4), terminal.DecimalUp(p.Delta, 4))
}

// Strength names ε on the scale of Ponomareva et al.
func (p promise) Strength() string {
	switch {
	case p.Epsilon <= 1:
		return "strong"
	case p.Epsilon <= 10:
		return "reasonable"
	}
	return "weak"
}

// Records is the number of records that δ is too large for.
func (p promise) Records() string { return terminal.DecimalUp(math.Ceil(1/p.Delta), 15) }

// Says returns the weaker guarantee, without a δ that stays: how often a guess is right, how strong that is, and its number.
func (p promise) Says(times float64, parts int) string {
	w := p.weaker(times, parts)
	number, strength := strings.TrimSuffix(w.String(), " for δ = "+terminal.DecimalUp(p.Delta, 4)), ""
	if w.Epsilon > 0 {
		strength = ", " + w.Strength()
	}
	if right := w.Right(); right != "" {
		return fmt.Sprintf("at most %s\u00a0%%%s (%s)", right, strength, number)
	}
	return number + strength
}

// Right returns the largest probability, in percent, that a guess of a coin by what is released is right; empty without a μ.
func (p promise) Right() string {
	advantage, err := accounting.Delta(p.Mu, 0)
	if p.Mu == 0 || err != nil {
		return ""
	}
	return terminal.DecimalUp(50*(1+advantage), 3)
}
