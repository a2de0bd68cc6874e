// Package protocols is the floor of private averaging protocols beside MF-D-SGD. It has no code of its own; its rooms
// are
//
//	ppac      provably private averaging consensus: fragments with noise, the exact average, leakage in nats
//	dpps      push-sum with Laplace noise in every message of every round, by an estimate of the sensitivity
//	partpsp   training on top of dpps: some layers of a model are shared, the others stay with their node
//	gossip    Gaussian noise on every value once, then consensus: what the others are held against
//
// and, for them alone, under internal: consensus (networks, rounds, exact weights), span (what a coalition learns of
// v(0)), doubledouble, modular and rational (numbers that do not round, or hardly).
//
// # What is promised, and to whom
//
// PPAC hides from single nodes, or a coalition, as much as the information-theoretic leakage says, for Gaussian
// values and noise, and nothing from an observer of all messages. DPPS hides, in a round, whose message an answer is.
// Gossip with Gaussian noise gives differential privacy to every value against everybody. These are not comparable as
// numbers: docs/protocols.md.
//
// The errors ErrNetwork and ErrTooLarge are the same in all rooms: errors.Is with one room's finds those of the others.
package protocols
