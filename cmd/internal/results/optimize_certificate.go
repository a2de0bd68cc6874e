package results

import (
	"fmt"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/participation"
)

// summarize says what was exported, and its privacy.
func (r *Summary) summarize() {
	m := r.Manifest
	network := "no network"
	if m.Graph != nil {
		network = fmt.Sprintf("%s (%d nodes)", m.Graph.Source, m.Graph.Nodes)
	}
	p := m.Participation
	turnout := fmt.Sprintf("at most k = %d times%s, b = %d steps apart", p.K, inBatches(p), p.B)
	switch text := drawnTurnout(m); {
	case text != "":
		turnout = text
	case p.Unit() == "silo":
		turnout = "with its whole update in every round"
	}
	r.Summarize(document.WhatItIs, "a strategy of correlated noise (%s) for %s, T = %d steps, in which a %s takes part %s",
		classOf(m), network, m.Steps, p.Unit(), turnout)
	privacy := "not chosen yet: noise of standard deviation clip/μ gives μ-GDP"
	if m.Privacy != nil {
		privacy = m.Guarantee()
	}
	r.Summarize("the promise, for specialists", "%s", privacy)
}

// drawnTurnout says how often a record takes part whose steps are drawn in secret; empty: not more often than its
// schema says.
func drawnTurnout(m *export.Manifest) string {
	switch {
	case !m.Sampled() || m.Binned():
		return ""
	case !m.Sampling.Kind().Traits().Independent:
		return fmt.Sprintf("k = %d times, in steps that are drawn in secret", m.Participation.K)
	}
	times := fmt.Sprintf("%.4g times", m.Sampling.Probability*float64(m.Sampling.Rounds))
	if times == "1 times" {
		times = "once"
	}
	return times + " on average, in steps that are drawn in secret"
}

// unboundedSecret says that nothing bounds the error where batches are drawn in secret.
func unboundedSecret(m *export.Manifest) string {
	return fmt.Sprintf("nothing is certified of the error under this sampling (%s)", m.Sampling.Scheme)
}

// inBatches says in how many batches a person takes part, if that is more than one.
func inBatches(p export.Participation) string {
	if p.Batches < 2 {
		return ""
	}
	return fmt.Sprintf(" with each of up to %d batches", p.Batches)
}

// classOf names the class of the strategy, with its size.
func classOf(m *export.Manifest) string {
	text := m.Strategy.Class
	switch {
	case m.Strategy.Buffers > 0:
		text += fmt.Sprintf(", %d buffers", m.Strategy.Buffers)
	case m.Strategy.Bandwidth > 0:
		text += fmt.Sprintf(", w = %d", m.Strategy.Bandwidth)
	}
	if m.PerNode != nil {
		text += fmt.Sprintf(", %d strategies for %d nodes", m.PerNode.Distinct, len(m.PerNode.Layers))
	}
	return text
}

// boundText prints a lower bound, never more than it is.
func boundText(v float64) string { return terminal.DecimalDown(v, 10) }

// certify says in words what is proved of an export, and what that leaves out.
func (r *Summary) certify() {
	m, say := r.Manifest, r.Certify
	if m.Privacy != nil {
		say("Privacy: %s.", m.Guarantee())
	} else {
		say("The noise is not chosen yet: standard deviation clip/μ gives μ-GDP, and twice as much if neighbours replace a %s.",
			m.Participation.Unit())
	}
	say("Sensitivity: sens² = %s, %s.", terminal.NumberUp(m.SensSquared), map[string]string{"exact": "exact",
		"bound": "an upper bound: the true one may be smaller"}[m.SensKind])
	loss := len(r.Certified)
	switch {
	case m.Space != nil:
		r.certifySpace()
	case m.Sampled():
		r.certifySecret()
	case m.LowerBound == 0:
		say("No lower bound is known %s: nothing is certified of the error.", unbounded(m))
	default:
		r.certifyLoss()
	}
	r.Summarize("loss", "%s", r.Certified[loss])
	if g := m.Gram; g.IsEstimate() {
		text := "The Gram matrix is an estimate, and so are loss, bound and gap"
		if g.LossError != nil {
			text += fmt.Sprintf(": with probability %s the loss is known within %s", terminal.AsGiven(g.Confidence), terminal.NumberUp(*g.LossError))
		}
		say("%s.", text)
	}
	r.Exclude(notCovered(m)...)
}

// certifyLoss says what the lower bound means.
func (r *Summary) certifyLoss() {
	m, say := r.Manifest, r.Certify
	nobody := "No strategy for this graph, T, participation, optimizer and attacker (local DP) has"
	if m.PerNode != nil {
		nobody = "No strategies, one a node, for this graph, T, participation, optimizer and attacker (local DP) have"
	}
	if m.Gram.IsEstimate() {
		nobody = "For the estimated Gram matrix: " + strings.ToLower(nobody[:1]) + nobody[1:]
	}
	say("%s a smaller loss than %s; this one has %s. The gap is %s: so much is left to gain, relatively, and no more.",
		nobody, boundText(m.LowerBound), terminal.DecimalUp(m.Loss, 10), terminal.NumberUp(m.Gap))
	if schema, err := m.Schema(); err == nil && !participation.IsPartition(schema) {
		say("Patterns of participation overlap, so that no strategy need reach the bound.")
	}
	r.certifyClass()
	if m.Status != "converged" {
		say("The search ended early (%s after %d iterations): the gap says how far.", m.Status, m.Iterations)
	}
}

// certifyClass says what no strategy of the class is better than.
func (r *Summary) certifyClass() {
	if m := r.Manifest; m.Strategy.ClassGap != nil {
		r.Certify("No %s strategy with %d bands has a smaller loss than %s (gap %s).", m.Strategy.Class,
			m.Strategy.Bandwidth, boundText(m.Strategy.ClassBound), terminal.NumberUp(*m.Strategy.ClassGap))
	}
}

// certifySecret says what no strategy is better than where batches are drawn in secret, and what the loss is of.
func (r *Summary) certifySecret() {
	m, say := r.Manifest, r.Certify
	if bound := m.Sampling.LowerBound; bound > 0 {
		say("No strategy, whatever its class, has a smaller error under this sampling than %s; this one has %s. The gap is %s: "+
			"so much is left to gain, relatively, and no more.", boundText(bound), terminal.DecimalUp(m.ErrorAtPrivacy, 10),
			terminal.NumberUp(m.Gap))
	} else {
		text := unboundedSecret(m)
		say("%s.", strings.ToUpper(text[:1])+text[1:])
	}
	if m.Binned() {
		say("The loss %s is for batches whose draw is known.", terminal.NumberUp(m.Loss))
		return
	}
	say("The loss %s is for a record that takes part once.", terminal.NumberUp(m.Loss))
	r.certifyClass()
}

// certifySpace says what is known of noise that nodes share.
func (r *Summary) certifySpace() {
	m, say := r.Manifest, r.Certify
	say("Its loss is %s; noise of every node's own costs %s.", terminal.NumberUp(m.Loss), terminal.NumberUp(m.LDPLoss))
	if m.JointLowerBound > 0 {
		say("No %s, with these secrets and coalitions, has a smaller loss than %s.", spacetime.Separable,
			boundText(m.JointLowerBound))
	}
	say("For this strategy no sharing is better by more than %s, for this sharing no strategy by more than %s, "+
		"relatively.", terminal.NumberUp(m.Space.GapSpace), terminal.NumberUp(m.Space.GapTime))
	say("%d pairs may share a secret. The promise holds against everybody without secrets and against the coalitions that "+
		"were asked about: the worst of them comes to %s of what is allowed, which is 1.", m.Space.Secrets.Pairs,
		terminal.NumberUp(m.Space.Worst.Value))
}

// notCovered is what a certificate does not say.
func notCovered(m *export.Manifest) []string {
	mechanisms := "secret batches"
	if m.Sampled() {
		mechanisms = "another sampling"
	}
	all := []string{
		"that no other mechanism is better: " + mechanisms + ", secrets between neighbours, another graph",
		"that your accuracy is the best: the loss is the squared error of the noise in the models, not a test loss",
		"that your implementation does what the export says: batches, clipping, the order of rows",
		"that data are safe in other respects: the final model's errors, who takes part at all, hyperparameters that were " +
			"chosen by looking at data",
	}
	if m.Sampled() {
		all = append(all, "anything where the draws, sizes of batches or empty batches become known")
	}
	if m.Space != nil {
		all = append(all, "the promise against more nodes that collude than the coalitions have: account and report say what is left then")
	}
	return all
}
