package export

import (
	"fmt"
	"strings"

	"mafalda/workload"
)

// rowOfMissed says what becomes of a row of noise whose step was missed.
const rowOfMissed = "Its row of noise is added to that of the next message if its own was certainly never sent; if that may have been sent, the " +
	"same bytes are sent again, or nothing."

// DescribeContract says in words what a node has to do for the manifest to be true of it, a few sentences each: the
// rows and their steps, who takes part when, what neighbouring data sets are, missed steps, gossip, and what to compare
// before starting. Everything in it follows from other fields; a manifest has it for people (Manifest.Contract).
func (m *Manifest) DescribeContract() []string {
	all := []string{fmt.Sprintf("T = %d steps, counted from 0: in step t a node adds row t of its noise to its sum of "+
		"clipped gradients of step t, that row and no other, to one gradient only.", m.Steps),
		m.describeBatches(), m.describeAdjacency(),
		"The sum with its noise is divided by a public number, never by how many " + m.units() + " were drawn. Whatever " +
			"happens to it then (momentum, Adam, rates) is free, and nothing else that depends on " + m.units() + " leaves the node.",
		"A step without " + m.units() + " sends its noise as any other, and whether a step is missed depends on nothing in the data. A missed step " +
			"takes its batch with it: no other step uses it instead. " + rowOfMissed}
	if m.Participation.Unit() == "silo" {
		all = m.describeRounds()
	}
	if m.Space != nil {
		all = append(all, "Nodes share noise in pairs (pairs.csv): before step 0 every node begins a run with the keys and "+
			"announcements of its neighbours.")
	}
	if m.Graph != nil {
		all = append(all, m.describeGossip())
	}
	if m.Networks() > 1 {
		all = append(all, "The network is one of family.graphs with its gossip weights, and every node has a label and noise of its own.")
	}
	return append(all, "Before step 0 a node compares the SHA-256 of manifest.json with those that it hears and those that "+
		"hear it: all hold the same export.")
}

// describeRounds says what a silo does whose whole update is protected.
func (m *Manifest) describeRounds() []string {
	return []string{fmt.Sprintf("T = %d rounds, counted from 0: in round t a silo adds row t of its noise to its clipped update of round t, "+
		"that row and no other, to one update only.", m.Steps),
		"The unit is a silo's whole update in every round: the difference between the weights that it has trained, in local steps " +
			"and with data of its choice, and those that it was sent.",
		m.describeAdjacency(),
		"The update with its noise is multiplied by public numbers alone, never by how many data a silo has. Whatever happens to it then " +
			"(momentum, rates of a server) is free, and nothing else that depends on its data leaves the silo.",
		"A silo without an update sends its noise as any other, and whether it misses a round depends on nothing in its data. A missed round " +
			"takes its update with it. " + rowOfMissed}
}

// units returns what is protected, in the plural.
func (m *Manifest) units() string {
	if m.Participation.Unit() == "person" {
		return "people"
	}
	return "records"
}

// describePeople says which people a step may use.
func (p Participation) describePeople() string {
	in := "a person is in one batch, with all records"
	if p.Batches > 1 {
		in = fmt.Sprintf("a person is in at most %d batches, whichever records are in which", p.Batches)
	}
	in += "; where records have several owners this holds for every one of them, nobody has records with different owners in " +
		"one batch, and records that do not fit are left out"
	if p.K == 1 {
		return fmt.Sprintf("Every step has a batch of its own, used once; %s. Which does not depend on what is in them.", in)
	}
	return fmt.Sprintf("A node deals its people to %d batches before step 0, without looking at what is in their records, and "+
		"keeps them: step t uses batch t mod %[1]d, and %s. Nothing is shuffled or drawn anew.", p.B, in)
}

// describeBatches says which records a step may use.
func (m *Manifest) describeBatches() string {
	if m.Sampled() {
		text := m.Sampling.Condition()
		return strings.ToUpper(text[:1]) + text[1:] + "."
	}
	p := m.Participation
	switch {
	case p.Schema == "people":
		return p.describePeople()
	case p.Schema == "patterns":
		return fmt.Sprintf("A record takes part in steps of one of the %d patterns of participation.patterns, and in no "+
			"others. Which pattern does not depend on what is in it.", len(p.Patterns))
	case p.Schema == "min-sep":
		return fmt.Sprintf("A record takes part in at most %d steps, any two of them at least %d apart. Which ones does not "+
			"depend on what is in it.", p.K, p.B)
	case p.K == 1:
		return "A record takes part in one step only. Which one does not depend on what is in it."
	case p.K == m.Steps:
		return fmt.Sprintf("A record may take part in every step, %d in all.", p.K)
	}
	batches, turn, rest := p.B, fmt.Sprintf("t mod %d", p.B), ""
	if windows := (m.Steps-1)/p.B/p.K + 1; windows > 1 { // T > k·b
		batches *= windows
		turn, rest = fmt.Sprintf("(t mod %d) + %[1]d·⌊t/%d⌋", p.B, p.K*p.B), ", and rests before and after"
	}
	return fmt.Sprintf("A node cuts its records into %d batches before step 0, without looking at what is in them, and keeps "+
		"them: step t uses batch %s, so that a record is in %d steps at most, %d apart%s. Nothing is shuffled or drawn anew.",
		batches, turn, p.K, p.B, rest)
}

// describeAdjacency says whose difference the guarantee is about.
func (m *Manifest) describeAdjacency() string {
	p, unit, clipped := m.Privacy, m.Participation.Unit(), "The gradient of every record, which depends on no other record, is clipped"
	what, sum := "gradients", "a sum"
	switch unit {
	case "silo":
		clipped, what, sum = "A silo's update is clipped, as one vector,", "updates", "a round's update"
	case "person":
		clipped = "What all records of a person add to a sum, in one step, depends on nobody else's and is clipped together"
	}
	if p == nil {
		return fmt.Sprintf("No privacy was asked for: whoever draws noise chooses its level, as a multiple of what one %s can "+
			"move %s by.", unit, strings.Replace(sum, "a sum", "the sum", 1))
	}
	norm, by := fmt.Sprintf("norm %v", p.Clip), "that"
	if m.Budgets != nil {
		norm, by = "the norm that its node has in budgets (clip), and its noise is of the node's level there", "the clip"
	}
	differ := "'s " + what + " are zeros in one of them"
	if p.Adjacency == "replace-one" {
		differ, by = " is replaced by another", "twice "+by
	}
	return fmt.Sprintf("%s to %s. Data sets are neighbours if one %s%s (%s), which moves %s by %s.", clipped, norm, unit,
		differ, p.Adjacency, sum, by)
}

// describeGossip says how models are mixed, and by which law where the networks are drawn.
func (m *Manifest) describeGossip() string {
	spec := *m.WorkloadSpec
	when := "After every step"
	if spec.LocalSteps > 1 {
		when = fmt.Sprintf("After steps %d, %d, … (every %d)", spec.LocalSteps-1, 2*spec.LocalSteps-1, spec.LocalSteps)
	}
	if spec.GossipRounds > 1 {
		when += fmt.Sprintf(", %d times,", spec.GossipRounds)
	}
	what := "model"
	if spec.GradientTracking {
		what = "model and tracker"
	}
	return fmt.Sprintf("%s a node u replaces its %s by Σ W[u,v] times that of v. %s", when, what, describeLaw(spec))
}

// describeLaw says what W is.
func describeLaw(s workload.Spec) string {
	if s.RandomNeighbours > 0 {
		return fmt.Sprintf("In every round every node draws %d of the others, uniformly, anew and independently, and "+
			"averages over them and itself with equal weights: no file has these matrices.", s.RandomNeighbours)
	}
	text := "W is in W.npy or W.mtx, rows and columns in the order of nodes.csv"
	if q := s.GraphSequence; q != nil {
		text = fmt.Sprintf("Step t has network t mod %d of those in W.npy (layers) or W.mtx (diagonal blocks), rows and "+
			"columns in the order of nodes.csv", q.Networks)
	}
	if s.NodeFailures > 0 {
		text += fmt.Sprintf("; in every round a node fails with probability %v, keeps what it has, and nobody hears from it",
			s.NodeFailures)
	}
	if s.LinkFailures > 0 {
		text += fmt.Sprintf("; in every round two nodes do not hear from each other with probability %v", s.LinkFailures)
	}
	if s.NodeFailures > 0 || s.LinkFailures > 0 {
		text += "; all of that independently, and what is left of a row is divided by its sum"
	}
	return text + "."
}
