// Package consensus is what the protocols share that average with a doubly stochastic matrix W: which networks they
// can run on, the rounds v(t+1) = W v(t), and W in exact numbers.
package consensus
