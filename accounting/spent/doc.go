// Package spent says what a training of another program gives away in total: Read reads a description of it, and Account
// returns its ε by round, for whom it holds, and what the description leaves open.
//
// # Why
//
// Several frameworks state an ε that is of one round. Rounds add up: noise of multiplier z for what a unit (a record, a
// person, or a silo's whole update) contributes makes a round 1/z-GDP, and R rounds √R/z-GDP, exactly (package
// accounting); noise drawn anew for each of r recipients of the same data counts as r rounds, as recipients may put together
// what they got. So an update that Flower's LocalDpMod sends with ε = 3 at δ = 1e-5, z = √(2 ln(1.25/δ))/3 = 1.615, is 15.0 after
// 20 rounds.
//
// # What is composed
//
//	gaussian   μ² = Σ rounds·(recipients/z² + 1/count_std²) where units take part in every round; where they are drawn
//	           in secret with a probability, package pld, with that noise multiplier
//	matrix     rows of C⁻¹Z: one Gaussian mechanism, μ = sens(C[:t,:t])/z after t rounds, for units that take part in every
//	           round, or as often, and as far apart, as is said (strategy.Growth); with the others μ² adds up
//	laplace    ε₀ = recipients·(1-norm of a contribution)/scale a round, and Σ ε₀; of one phase also by accounting.ComposeAdvanced
//	svt        a sparse vector, as NVFlare counts it: ε + ⌈fraction·parameters⌉·noise_var a round, if every part holds
//
// What is pure (laplace, svt) is added to the ε of what is Gaussian. All numbers are rounded up.
package spent
