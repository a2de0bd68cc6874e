package threat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
)

// Attacker is who learns, and what. The zero value is the LDP attacker.
type Attacker struct {
	Trust Trust
	// Nodes are who colludes: at least one under PNDP, any number under SecLDP (none is an Eavesdropper), none under LDP
	// and for an Eavesdropper.
	Nodes []int

	// Any, under SecLDP without Nodes and for noise that nodes share in pairs, are coalitions: every victim is
	// attacked by the coalition that learns most about it.
	Any *secrets.Attackers

	// SecureSummation: under PNDP the nodes do not see single messages but only the weighted sums they compute from
	// them, Σ_w W[a,w] m_w.
	SecureSummation bool

	// ForgetOwnNoise: the nodes' own noise counts as protection (Koskela & Kulkarni's default). Under secure summation
	// they then see only their own messages: the sums, with their own noise added (S = e_a). With single messages it
	// changes nothing, because a node that sees its own message and all those it was made of can compute the noise in
	// it; what it shares with neighbours is taken as known, too, which is the safe reading.
	ForgetOwnNoise bool
}

// Name returns the labels of the attackers, with commas between them, and "everybody" where they are no particular
// nodes.
func (a Attacker) Name(g *graph.Graph) string {
	switch {
	case a.Any != nil && a.Any.Colluding() == a.Any.Largest():
		return fmt.Sprintf("every coalition of at most %d", a.Any.Largest())
	case a.Any != nil:
		return fmt.Sprintf("each of %d coalitions", len(a.Any.Coalitions()))
	case len(a.Nodes) == 0:
		return models[a.Trust].nobody
	}
	return strings.Join(lists.Map(a.Nodes, g.Label), ",")
}

// Sees says in a few words what the attacker sees and knows.
func (a Attacker) Sees() string {
	switch {
	case a.SecureSummation && a.ForgetOwnNoise:
		return "weighted sums of messages under their own noise"
	case a.SecureSummation:
		return "weighted sums of messages, and know their own noise"
	case a.Any != nil:
		return "all messages, and know their own noise and what others share with them"
	}
	return models[a.Trust].sees
}

// ErrAttacker is wrapped by errors about an attacker that does not exist.
var ErrAttacker = errors.New("no such attacker")

func (a Attacker) check(nodes int) error {
	why := ""
	for i, v := range a.Nodes {
		if v < 0 || v >= nodes {
			why = fmt.Sprintf("node %d is not one of %d", v, nodes)
		} else if slices.Contains(a.Nodes[:i], v) {
			why = fmt.Sprintf("node %d is named twice", v)
		}
	}
	switch {
	case why != "":
	case !trusts.Known(a.Trust):
		why = fmt.Sprintf("under %v", a.Trust)
	case !a.Trust.Public() && len(a.Nodes) == 0:
		why = fmt.Sprintf("under %v it is a node", a.Trust)
	case !a.Trust.HasNodes() && len(a.Nodes) > 0:
		why = fmt.Sprintf("under %v it is nobody in particular", a.Trust)
	case a.Any != nil && (!a.Trust.Colludes() || len(a.Nodes) > 0 || a.Any.Nodes() != nodes):
		why = "coalitions of other nodes, or beside a node, or not under SecLDP"
	case a.SecureSummation && a.Trust.Public():
		why = "secure summation hides messages from nodes, so under PNDP only"
	case a.ForgetOwnNoise && a.Trust.Public():
		why = "only nodes can forget their noise"
	}
	return errorIf(why != "", ErrAttacker, "%s", why)
}

// hears returns the nodes whose single messages the attacking nodes receive or send, without insiders.
func (a Attacker) hears(w *graph.CSR) []int {
	n, _ := w.Dims()
	heard := make([]bool, n)
	for _, v := range a.Nodes {
		heard[v] = true
		w.DoRowNonZero(v, func(_, u int, weight float64) { heard[u] = heard[u] || weight != 0 })
	}
	return slices.DeleteFunc(lists.UpTo(n), func(v int) bool { return !heard[v] || slices.Contains(a.insiders(), v) })
}

// Condition is what every number under PNDP, of single messages or of sums, holds for. It is a sentence for a reader,
// and the same wherever such a number is printed, stored or drawn. docs/network-privacy.md has a counterexample for
// other inputs.
const Condition = "inputs that do not react to what hidden nodes learned (averaging, fixed streams); " +
	"a network that trains has the local-DP number"
