// Package results says in words and tables what commands have found: strategies and certificates, what attackers learn,
// trained models, averages. It also checks folders for results before anything is computed, and writes them.
//
// # Files of results
//
// What a command writes into the folder of -o. Folders of account, simulate, benchmark and average -compare are studies (package
// study). A name with a * stands for figures as .png, .svg and .pdf.
//
// account: account.json has version, settings (the inputs), export (the folder of the strategy as it was named) and attackers, as
// -json prints them; pairs.csv the same; exposure* is the figure; with -growth growth.json and growth*. With budgets a pair has
// sigma, the victim's own noise over what its records can move its sum by. Under -trust pndp:
//
//	holds_for                       what sens_squared, mu, rdp and epsilon are for (threat.Condition)
//	reaction                        the class: rho, kappa, from
//	ldp_sens_squared, ldp_mu        of local DP; of pairs their own; with -delta delta and ldp_epsilon, absent if infinite
//	bound, why                      which bound; why a class says no more than local DP
//	without_reaction, worst_answer  if gradients do not react; what answers of the class reach at least, of the pairs that lose
//	                                most at each distance; both are no guarantee
//	drawn_sens_squared, drawn_mu,   of the networks or absences of drawn_by_seed alone, for what drawn_holds_for says
//	drawn_epsilon, drawn_bound
//
// Growth has neighbours_without_reaction, others_without_reaction, neighbours_drawn and others_drawn likewise, and asymptote for
// fixed inputs.
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
// centralized_loss and centralized_excess of D-MF for this optimizer (left out where D-MF is not defined), seconds.
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
