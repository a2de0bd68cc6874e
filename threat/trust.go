package threat

import "mafalda/internal/enum"

// Trust is a trust model: what its attackers are, see and know, which is a row of models and nowhere else.
type Trust int

const (
	// LDP, local DP: all messages are public, and no node is trusted, so that all noise but the victim's own is known, too:
	// what nodes share with each other hides nothing.
	LDP Trust = iota
	// PNDP, pairwise network DP: the attacker is a node, or a coalition of nodes. It sees the messages they receive and
	// send, and knows their gradients and their noise (Cyffers et al. 2022; Bellet et al., Section 4.2).
	PNDP
	// SecLDP, secret-based local DP: all messages are public, and some nodes' secrets are known, too: their gradients,
	// their noise, and the noise they share with neighbours (Allouah et al. 2024, with all messages public as the safe
	// reading).
	SecLDP
	// Eavesdropper: all messages are public, and what nodes share with each other is a secret of theirs. This is no local
	// DP: any of the nodes knows more. Without noise that nodes share it is the same as LDP.
	Eavesdropper
)

// models are the rows of the trust models. Attackers know the gradients, the noise and the shared noise of their nodes.
var models = [...]struct {
	sees   string // is Attacker.Sees
	usage  string // describes the model for a flag
	nobody string // names an attacker without nodes
	public bool   // means that attackers see all messages
	nodes  bool   // means that attackers can be nodes; they must be where messages are not public
	tells  bool   // means that attackers know all noise that nodes share
}{
	LDP: {"all messages, and know all noise but the victim's own", "all messages, and all noise but the victim's own",
		"everybody", true, false, true},
	PNDP: {"the messages they receive and send, and know their own noise", "what reaches it (for training see above)",
		"", false, true, false},
	SecLDP: {"all messages, and know their own noise", "all messages and the attacker's own secrets",
		"everybody", true, true, false},
	Eavesdropper: {"all messages, and know no noise", "all messages, and no secrets",
		"an eavesdropper", true, false, false},
}

var trusts = enum.Of[Trust]("trust model", "ldp", "pndp", "secldp", "eavesdropper")

// Trusts lists the names that ParseTrust accepts, and says what attackers see under each, a line a model.
func Trusts() (names []string, usage string) {
	for t, m := range models {
		names = append(names, Trust(t).String())
		usage += "\n" + names[t] + ": " + m.usage
	}
	return names, usage
}

// String returns the name used in flags and files.
func (t Trust) String() string { return trusts.Name(t) }

// ParseTrust is the inverse of String.
func ParseTrust(name string) (Trust, error) { return trusts.Parse(name) }

// Public reports whether attackers see all messages: what they learn holds then however nodes react to what they
// learned. Under a trust model that is not public it is for inputs that do not react, or for a class of reactions.
func (t Trust) Public() bool { return models[t].public }

// HasNodes reports whether attackers can be nodes: they must be where not all messages are public.
func (t Trust) HasNodes() bool { return models[t].nodes }

// Colludes reports whether any of several coalitions can attack: their nodes put secrets together, and see all messages.
func (t Trust) Colludes() bool { return t.Public() && t.HasNodes() }

// insiders returns the nodes whose gradients, noise and shared noise the attackers know: their own.
func (a Attacker) insiders() []int { return a.Nodes }
