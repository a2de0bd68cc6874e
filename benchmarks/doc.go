// Package benchmarks compares strategies with the baselines of the field on one workload, and holds the Go benchmarks of
// the main job.
//
// # Baselines
//
//	dp-d-sgd  independent noise, C = I
//	antipgd   noise z_t - z_{t-1} (Koloskova et al. 2023)
//	d-mf      the optimum for the centralized prefix workload under the same participation (Denisov et al. 2022,
//	          Choquette-Choo et al. 2023), used on the network as it is
//
// Every baseline is measured like the optimum: its own sensitivity under the schema, its squared error on the network's
// Gram matrix, and their product, the loss.
package benchmarks
