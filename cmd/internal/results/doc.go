// Package results says in words and tables what commands have found: strategies and certificates, what attackers learn,
// trained models, averages. It also checks folders for results before anything is computed, and writes them.
//
// # Files of results
//
// What a command writes into the folder of -o. Folders of simulate, benchmark and average -compare are studies (package
// study); docs/formats.md has those of account. A name with a * stands for figures as .png, .svg and .pdf.
//
// simulate: runs.json has simulated (true), note, settings (the inputs, with workload if it is not plain) and runs, each with
//
//	method                              of an export its folder, and the start of the SHA-256 of its manifest
//	mu, seed, steps, seconds            of batches drawn in secret sampling, groups, noise_multiplier, and epsilon for mu
//	losses, mean_last50, final, final_full_test, clipped_fraction, diverged_at
//	noise_error, predicted_noise_error  the squared error that noise alone makes of the models (docs/simulation.md)
//
// simulate.csv is the table, with the note in its last column; loss-mu* (loss-epsilon* for levels given as ε; four digits, more
// where two would have one name) and privacy-utility* are figures.
//
// benchmark: benchmark.json has version, gossip, seed, epsilons, delta and rows; benchmark.csv the same rows; excess-k*-b* and
// memory-k*-b* are figures. A row has graph, graph_sha256 of a file, k, b, strategy, sens_squared and sens_kind (before
// scaling), loss, ratio (over the dense certified optimum's), lower_bound, memory_floats, seconds, and at_privacy: for every
// epsilon and delta error_at_privacy and its ratio to the optimum's. The rows "bands, poisson" and "dp-d-sgd, poisson" have
// no sensitivity and no loss, and bandwidth and noise_multiplier in at_privacy. In the CSV these are columns such as
// error_at_privacy_epsilon_0.5, ratio_epsilon_0.5 and bands_epsilon_0.5.
//
// benchmark -workloads: workloads.json has version, gossip, seed and rows; workloads.csv the same rows; workloads-k*-b* are
// figures, matchings-*.edges the sequence of networks of a row, named by digest of the network. A row has graph, nodes,
// graph_sha256, k, b, workload (its name), workload_spec (as a manifest has it), loss, lower_bound and gap of the certified
// optimum, plain_strategy_loss and plain_strategy_excess (over loss, relative) of the optimum for plain training,
// centralized_loss and centralized_excess of D-MF for this optimizer (left out where there is none), seconds.
//
// sampling: sampling.json has version, graph, workload, T, k, b, delta and rows, one an ε, ascending: epsilon,
// cyclic_error_at_privacy, bands and best, each with bandwidth, noise_multiplier, error_at_privacy and ratio to the optimum in
// turn. sampling.csv has a line for every ε and number of bands, best among them, with all digits. sampling* is the figure.
//
// average: average.json, whose leakages, mu and epsilon are rounded up:
//
//	ppac    pairs: observer (labels that collude), victim, leakage in nats ("inf" if and only if the value is recovered),
//	        limit (what is left of it however much noise there is, at most); generalized_leaves: head, tail; recovered: what
//	        the attack computed on this run; chosen (m_i); errors of all rounds; leakage_rounds (t: the messages of the
//	        rounds 0 to t; null: for ever)
//	dpps    rounds: estimated and real sensitivity; the constants; epsilon_per_round; epsilon_basic and epsilon_advanced,
//	        which are no guarantee (composition_proved is false)
//	gossip  mu, epsilon; pairs: mu, leakage
//
// partpsp: partpsp.json, and figures sensitivity-NETWORK*, or sensitivity-NETWORK-b-B* for several -laplace-b.
package results
