// Package averaging has what the protocols share that average private values by consensus, v(t+1) = W v(t): the
// problem, nodes' values that are drawn or read, the head of a result, and information in nats.
//
// A Problem says which network averages what, for how long, and who looks on. Packages ppac and gossip solve it, each
// with noise of its own kind; dpps has graphs that change, and a problem of its own. Noise and values come from
// seeds: results come from simulations, and say so.
package averaging
