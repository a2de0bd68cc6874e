// Package plan is the pipeline as a library: from a network, and who may take part when, to the strategy of least loss
// with a proof of how good it is, and to its export. Package verify goes the way back.
//
// # From a problem to a solution
//
//	Problem   network, workload, schema, objective: what the best strategy depends on
//	Options   the class of strategies, one or several, how close to the optimum, the privacy wanted
//	Solution  the strategy, its cost, a lower bound that no strategy is below, baselines, the noise for the privacy
//
// A [Problem] has a Key, the SHA-256 of every byte of it. Needs says what solving it takes, and Check what is wrong
// with it, before anything is computed or allocated. [Solve] prepares once, and then the mode that is asked for
// solves it; a mode is a file, and mode.go has their list:
//
//	mode_poisson.go   batches drawn in secret by Poisson sampling: the number of bands of least error at the (ε, δ),
//	                  with its strategy (package factorize/bands)
//	mode_bins.go      batches drawn in secret by random bins: strategies without negative entries, and the best that
//	                  is found for the accountant
//	mode_long.go      very many steps: the response to a single step's noise takes the place of the Gram matrix
//	mode_sharing.go   nodes share noise, with batches in turn or by Poisson sampling: noise between nodes and a
//	                  strategy of the class, each the best for the other (package factorize/spacetime)
//	mode_split.go     strategies of single nodes or of groups
//	mode_turn.go      what is left: one strategy for all nodes, with batches in turn
//
// What modes have in common is in mode.go and mode_turn.go:
//
//	H         the Gram matrix of the workload on the network, exact or estimated (package workload)
//	optimum   the dense strategy of least loss, with its certificate (package factorize); where patterns overlap, the
//	          certificate of a relaxation of the schema, whose bound holds for the schema
//	class     the best strategy of another class, if one is asked for, measured against the optimum
//	others    DP-D-SGD, AntiPGD and D-MF on the same workload (package baselines)
//	judged    how far off the loss may be, if H is an estimate
//
// [Solution.Export] writes matrices, nodes and manifest; [Solution.Manifest] is the latter alone. What was interrupted,
// or did not converge, is a Solution as well: its Ending says so, and its bounds hold.
//
// # Errors
//
// A bad argument is a fault.Argument that names the field of Problem, Gram, Options or Privacy, or the parameter of the
// class; what the machine has no memory for wraps limits.ErrMemory, and an estimate that says nothing is [ErrEstimate].
// Everything else is a failure to compute, to read or to write. Functions that can take seconds end with their context,
// whose error they wrap.
//
// The package prints nothing and knows no command line: how far Solve is, and what a user should know, are Events.
package plan
