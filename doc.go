// Package mafalda computes the best noise correlations for differentially private decentralized learning, proves how
// close to the optimum they are, and exports them for the nodes of a network.
//
// Call LoadNetwork for a graph, Solve for the best strategy on it, Solution.Export for the files, and Noise for what a
// node adds to its sum of clipped gradients, step by step. Open and Verify are for readers of an export, Account says
// what a node learns of others:
//
//	network, err := mafalda.LoadNetwork(ctx, "ego.edges")
//	problem := mafalda.Problem{Network: network, Participation: mafalda.Cyclic{Steps: 380, Times: 20}}
//	solution, err := mafalda.Solve(ctx, problem, mafalda.Options{Epsilon: 8, Delta: 1e-6})
//	err = solution.Export("out", mafalda.WriteOptions{})
//	noise, err := mafalda.Noise("out", "node 7", dimensions)
//	err = noise.Next(row)
//	report, err := mafalda.Account(ctx, export, network, "node 7", mafalda.AccountOptions{Delta: 1e-6})
//
// Everything is computed from public facts alone: graph, gossip weights, number of steps, participation. The loss is
// sens(C)²·tr(C⁻ᵀHC⁻¹) for a strategy C (T×T, lower triangular) and the Gram matrix H of the workload.
// Solution.LowerBound is a loss below which no strategy is.
//
// For secret batches, noise shared between neighbours, strategies of single nodes and every other option take package
// plan, whose Problem and Options this package fills; attackers are in package threat, training in simulate.
// docs/architecture.md is the plan of the house, docs/mathematics.md has the derivations.
package mafalda
