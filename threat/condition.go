package threat

// Condition is what every number under PNDP, of single messages or of sums, holds for. It is a sentence for a reader, and
// the same wherever such a number is printed, stored or drawn. docs/mathematics.md has the counterexample for the rest.
const Condition = "inputs that do not react to what hidden nodes learned (averaging, fixed streams); " +
	"a network that trains has the local-DP number"

// HoldsFor returns Condition under PNDP, where nodes that the attacker does not see answer to models that it does not see
// either, and nothing under the other trust models, whose numbers hold however nodes react: all messages are public there.
func (t Trust) HoldsFor() string {
	if t == PNDP {
		return Condition
	}
	return ""
}
