// Package benchmarks compares strategies with the baselines of the field on workloads, and holds the Go benchmarks of the
// main job. A Study is every strategy on every Case, or every Workload on every network, as cells of package study.
//
// # Baselines
//
// Every baseline (see package baselines) is measured like the optimum: its own sensitivity under the schema, its
// squared error on the network's Gram matrix, and their product, the loss.
package benchmarks
