// Package baselines makes the strategies of the field that others are compared with.
//
//	dp-d-sgd  independent noise, C = I
//	antipgd   noise z_t - z_{t-1} (Koloskova et al. 2023)
//	d-mf      the optimum for the centralized prefix workload under the same participation (Denisov et al. 2022,
//	          Choquette-Choo et al. 2023), used on the network as it is
//
// None of them knows the network: they are the same on every one. D-MF and the square roots of this package can know
// the optimizer, so that what is left between them and the optimum is what knowing the network is worth.
package baselines
