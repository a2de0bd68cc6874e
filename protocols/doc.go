// Package protocols is the floor of private averaging protocols beside MF-D-SGD. Its rooms are
//
//	averaging what those share that average by consensus: the problem, values, the head of a result
//	ppac      provably private averaging consensus: fragments with noise, the exact average, leakage in nats
//	dpps      push-sum with Laplace noise in every message of every round, by an estimate of the sensitivity
//	partpsp   training on top of dpps: some layers of a model are shared, the others stay with their node
//	gossip    Gaussian noise on every value once, then consensus: what the others are held against
//
// and, for them alone, under internal: consensus (networks, rounds, exact weights), span (what a coalition learns of
// v(0), with numbers of 106 bits), modular (numbers that do not round), inputs (random numbers, and files with
// something for every node).
//
// The package itself holds the protocols against each other: a Comparison is a study whose cells are the protocols, on
// one network with one set of values. Papers runs the experiments of the papers that have averaging.
//
// # What is promised, and to whom
//
// PPAC hides from single nodes, or a coalition, as much as the information-theoretic leakage says, for Gaussian
// values and noise, and nothing from an observer of all messages. DPPS hides, in a round, whose message an answer is.
// Gossip with Gaussian noise gives differential privacy to every value against everybody. These are not comparable as
// numbers: docs/protocols.md.
//
// The errors ErrNetwork and ErrTooLarge are the same values in all protocol packages: errors.Is with one package's error
// finds every other package's.
package protocols
