package report

import (
	"fmt"

	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/participation"
)

// certificate says in words what is proved of an export, and what that leaves out.
func (s *Section) certificate(m *export.Manifest) {
	say := func(format string, args ...any) { s.Certified = append(s.Certified, fmt.Sprintf(format, args...)) }
	if m.Privacy != nil {
		say("Privacy: %s.", m.Guarantee())
	} else {
		say("The noise is not chosen yet: standard deviation clip/μ gives μ-GDP, and twice as much if neighbours replace a record.")
	}
	say("Sensitivity: sens² = %s, %s.", textUp(m.SensSquared), map[string]string{"exact": "exact",
		"bound": "an upper bound: the true one may be smaller"}[m.SensKind])
	switch {
	case m.Space != nil:
		s.certifySpace(m, say)
	case m.Binned():
		say("Nothing is certified of the error under random bins. The loss %s is for batches whose draw is known.",
			textUp(m.Loss))
	case m.LowerBound == 0:
		say("There is no lower bound for strategies this long: nothing is certified of the error.")
	default:
		s.certifyLoss(m, say)
	}
	if g := m.Gram; g != nil && g.Method != "exact" {
		text := "The Gram matrix is an estimate, and so are loss and bound"
		if g.LossError != nil {
			text += fmt.Sprintf(": with probability %s the loss is known within %s", plain(g.Confidence), textUp(*g.LossError))
		}
		say("%s.", text)
	}
	s.NotCovered = notCovered(m)
}

// certifyLoss says what the lower bound means.
func (s *Section) certifyLoss(m *export.Manifest, say func(string, ...any)) {
	nobody := "No strategy for this graph, T, participation, optimizer and attacker (local DP) has"
	if m.PerNode != nil {
		nobody = "No strategies, one a node, for this graph, T, participation, optimizer and attacker (local DP) have"
	}
	if m.Sampled() {
		nobody = "Where a record takes part once, no strategy for this graph, T and optimizer has"
	}
	say("%s a smaller loss than %s; this one has %s. The gap is %s: so much is left to gain, relatively, and no more.",
		nobody, textDown(m.LowerBound), upExactly(m.Loss), textUp(m.Gap))
	if schema, err := m.Schema(); err == nil && !participation.IsPartition(schema) {
		say("Patterns of participation overlap, so that no strategy need reach the bound.")
	}
	if m.Strategy.ClassGap != nil {
		say("No %s strategy with %d bands has a smaller loss than %s (gap %s).", m.Strategy.Class,
			m.Strategy.Bandwidth, textDown(m.Strategy.ClassBound), textUp(*m.Strategy.ClassGap))
	}
	if m.Status != "converged" {
		say("The search ended early (%s after %d iterations): the gap says how far.", m.Status, m.Iterations)
	}
}

// certifySpace says what is known of noise that nodes share.
func (s *Section) certifySpace(m *export.Manifest, say func(string, ...any)) {
	say("Its loss is %s; noise of every node's own costs %s.", textUp(m.Loss), textUp(m.LDPLoss))
	if m.JointLowerBound > 0 {
		say("No %s, with these secrets and coalitions, has a smaller loss than %s.", spacetime.Separable,
			textDown(m.JointLowerBound))
	}
	say("For this strategy no sharing is better by more than %s, for this sharing no strategy by more than %s, "+
		"relatively.", textUp(m.Space.GapSpace), textUp(m.Space.GapTime))
	say("%d pairs may share a secret. The promise holds against everybody without secrets and against the coalitions that "+
		"were asked about: the worst of them comes to %s of what is allowed, which is 1.", m.Space.Secrets.Pairs,
		textUp(m.Space.Worst.Value))
}

// notCovered is what a certificate does not say.
func notCovered(m *export.Manifest) []string {
	all := []string{
		"that no other mechanism is better: secret batches, secrets between neighbours, another graph",
		"that your accuracy is the best: the loss is the squared error of the noise in the models, not a test loss",
		"that your implementation does what the export says: batches, clipping, the order of rows",
		"that data are safe in other respects: the final model's errors, who takes part at all, hyperparameters that were " +
			"chosen by looking at data",
	}
	if m.Sampled() {
		all = append(all, "anything where the draws, sizes of batches or empty batches become known")
	}
	if m.Space != nil {
		all = append(all, "anything against more nodes that collude than the coalitions have")
	}
	return all
}
