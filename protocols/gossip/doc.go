// Package gossip averages under Gaussian noise that every node adds to its value once: the baseline that the other
// protocols are held against.
//
//	v(0) = u + N(0, σ²),   v(t+1) = W v(t)
//
// Values that differ by D are μ-GDP apart, μ = D/σ, for everybody who sees all messages for ever. Who sees fewer is
// worse off: Exposures are what a coalition's messages say of every node's noisy value, and Leakage turns them into
// nats, for Gaussian values, on the same scale as package ppac. The average is wrong by N(0, σ²/n).
package gossip
