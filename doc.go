// Package mafalda is the house plan of this module: optimal noise correlations for differentially private decentralized
// learning, proved, accounted for and exported. It holds no code; the rooms do.
//
// # What it is for
//
// Nodes of a peer-to-peer graph train one model: each takes a clipped gradient step, adds Gaussian noise, and averages
// with its neighbours. Correlating a node's noise over time cancels much of its harm without weakening the guarantee.
// The program computes, from public facts only, the correlation that costs the least, proves how close to the optimum
// it is, accounts for the privacy that it gives under several attackers, and exports it for the nodes to load.
//
// # Where to start
//
// A Go program does with a few calls what the command mafalda optimize does (see the example of package plan, and
// examples/go):
//
//	network, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "ego.edges"})
//	schema, err := participation.Complete(380, 0, 0)
//	solution, err := plan.Solve(ctx, plan.Problem{Network: network, Schema: schema}, plan.Options{})
//	err = solution.Export("out", export.WriteOptions{})
//
// # The rooms
//
// From the roof to the ground; a room imports only rooms below it, which a test holds.
//
//	cmd/mafalda         a command a file: flags, one call of a library, a table, JSON or a picture
//	internal/cli        what commands share: errors and exit codes, numbers, tables, progress, groups of flags
//	internal/report     one HTML file of results, to look at and to pass on
//	internal/figures    a constructor a picture: a result in, a drawing out
//	plan                the pipeline: Problem, Solve, Solution, Export, Verify; what it needs, before any work
//	benchmarks          suites, baselines, comparisons
//	simulate            decentralized training: tasks, models, the MF-D-SGD loop; what the noise costs
//	protocols/…         private averaging beside MF-D-SGD: ppac, dpps, partpsp, gossip; averaging, which they share
//	threat              algorithms × trust models → linear views; Assess, Audit
//	noise               what a node runs: rows of C⁻¹Z in bounded memory; keys; state that survives crashes
//	export              C, C⁻¹ and the manifest on disk: written atomically, read with suspicion
//	factorize           the best strategy of every class, and the certificate
//	strategy            what a strategy C is, what it costs a node, the filter that streams C⁻¹Z
//	accounting          μ-GDP, (ε, δ), Renyi; how much noise: every number rounded to the safe side
//	optim               minimizers; they know nothing of privacy
//	participation       who may take part when, and the sensitivity of X = CᵀC
//	secrets             who shares secrets, who colludes, noise of pairs; what attackers learn of it
//	workload            Gram matrices H of decentralized learning: the definition, and fast paths
//	graph               graphs and gossip matrices: made, loaded, inspected; a Network knows its origin
//	internal/study      grids of independent cells, keyed by every input byte, resumable, safe for several writers
//	internal/cluster    hands shards of grids to Slurm, Kubernetes, or local processes
//	internal/…          files, npy, gemm and rows (kernels), parallel, rounding, limits, fault: they know no domain
//
// # Notation
//
//	n, T   nodes, steps
//	W      gossip matrix         n×n, row-stochastic
//	H      Gram matrix           T×T: all that an optimizer has to know of the network
//	C      strategy              T×T, lower triangular: what privacy is paid for
//	C⁻¹    noising matrix        a node adds row t of C⁻¹Z in step t
//	X      strategy Gram matrix  CᵀC: all that sensitivity and error depend on
//	k, b   participations, separation
//	sens   sensitivity           the largest norm of C(G-G') over neighbouring datasets
//	μ, σ   μ-GDP; σ = 1/μ
//
// The squared error is tr(C⁻ᵀHC⁻¹), the loss sens(C)² times that. docs/mathematics.md has the derivations.
package mafalda
