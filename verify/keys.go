package verify

import (
	"math"
	"strings"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/strategy"
)

// comparison says how what the manifest says of a key is compared with what is computed again.
type comparison string

const (
	// exactly: equal, to the last bit; within: equal up to a relative difference; atMost: not above what may be
	// claimed; sameLength: a list of as many entries.
	exactly    comparison = "exactly"
	within     comparison = "within"
	atMost     comparison = "at most"
	sameLength comparison = "same length"
	// judged: no number is compared with it, but the check finds out whether it holds.
	judged comparison = "judged"
	// given: all else is computed from it. Another one makes other numbers.
	given comparison = "given"
	// unchecked: nothing is known of it but from the manifest, and the report says so. A check may find a
	// contradiction.
	unchecked comparison = "unchecked"
	// block: what is in it has rules of its own.
	block comparison = "block"
)

// rule is how a key is compared, in which check. It is for all that is in the key, too.
type rule struct {
	key   string // * stands for every name of a map, [] for every entry of a list
	how   comparison
	check string
	apart tolerance // of within: how far apart both may be, relatively; nil: not at all

	network bool // it is not checked without the network
	absent  bool // it is listed as not checked though it is not there, which says something, too
}

// tolerance is a relative difference, which may depend on what is verified.
type tolerance func(v *verification, key string) float64

func upTo(x float64) tolerance { return func(*verification, string) float64 { return x } }

const (
	sameFormula = 0x1p-50 // the same operations on the same numbers
	sameMatrix  = 1e-9    // sums over the same matrices, in another order
	sameNoise   = 1e-7    // calibrations on different processors
	sameSearch  = 1e-7    // bounds that searches on different processors prove
)

// rules has a rule for every key that a manifest can have, in its order. Where a key has two, both checks compare it.
func rules() []rule {
	var all []rule
	add := func(r rule, keys ...string) {
		for _, r.key = range keys {
			all = append(all, r)
		}
	}
	add(rule{how: unchecked}, "version", "command")
	add(rule{how: block, network: true, absent: true}, "graph")
	add(rule{how: exactly, check: "network"}, "graph.source", "graph.sha256", "graph.seed", "graph.nodes",
		"graph.edges", "graph.dropped_nodes", "graph.directed", "graph.gossip")
	add(rule{how: unchecked}, "graph.gossip_file")
	add(rule{how: exactly, check: "network"}, "graph.gossip_sha256")
	add(rule{how: unchecked}, "graph.sequence_file")
	add(rule{how: exactly, check: "network"}, "graph.sequence_sha256")
	add(rule{how: given, network: true, absent: true}, "workload")
	add(rule{how: given, network: true}, "workload_spec")
	add(rule{how: given, network: true, absent: true}, "objective")
	add(rule{how: given, check: "lower bound", network: true}, "objective_weights")
	add(rule{how: given}, "steps")
	add(rule{how: block, network: true, absent: true}, "gram")
	add(rule{how: given}, "gram.method")
	add(rule{how: exactly, check: "estimate"}, "gram.probes")
	add(rule{how: given}, "gram.lanczos_steps", "gram.seed")
	add(rule{how: judged, check: "estimate"}, "gram.confidence")
	add(rule{how: within, check: "estimate", apart: upTo(1e-7)}, "gram.loss_error", "gram.excess_bound")
	add(rule{how: exactly, check: "schema"}, "participation.schema", "participation.k", "participation.b",
		"participation.source", "participation.patterns", "participation.person_batches") // but the name of a file
	add(rule{how: judged, check: "space"}, "trust")
	add(rule{how: block, network: true}, "space.secrets")
	add(rule{how: judged, check: "secrets"}, "space.secrets.source")
	add(rule{how: unchecked}, "space.secrets.sha256")
	add(rule{how: exactly, check: "secrets"}, "space.secrets.pairs")
	add(rule{how: given, check: "space"}, "space.coalitions")
	add(rule{how: judged, check: "secrets", network: true}, "space.largest_pair")
	add(rule{how: judged, check: "space"}, "space.worst")
	add(rule{how: judged, check: "space gap", network: true}, "space.gap_space")
	add(rule{how: judged, check: "time gap", network: true}, "space.gap_time")
	add(rule{how: judged, check: "space"}, "space.own", "space.pairs") // not in exports, whose files have them
	add(rule{how: given, check: "strategy"}, "strategy.class")
	add(rule{how: exactly, check: "cost"}, "strategy.bandwidth", "strategy.buffers")
	add(rule{how: sameLength, check: "cost"}, "strategy.diagonals", "strategy.coefficients",
		"strategy.column_scales") // the numbers in them make C: see parameters
	add(rule{how: exactly, check: "cost"}, "strategy.scale")
	add(rule{how: sameLength, check: "cost"}, "strategy.sections")
	add(rule{how: within, check: "cost", apart: upTo(1e-12)}, "strategy.theta[]", "strategy.omega[]")
	add(rule{how: within, check: "ratio", apart: twoSearches(1e-9), network: true}, "strategy.ratio")
	add(rule{how: within, check: "arithmetic", apart: upTo(sameFormula), network: true}, "strategy.ratio")
	add(rule{how: atMost, check: "class bound", network: true}, "strategy.class_bound")
	add(rule{how: within, check: "class gap", apart: upTo(sameFormula), network: true}, "strategy.class_gap")
	add(rule{how: exactly, check: "cost"}, "strategy.memory_floats", "strategy.flops_per_step")
	add(rule{how: block, network: true}, "per_node")
	add(rule{how: judged, check: "groups"}, "per_node.groups")
	add(rule{how: exactly, check: "groups"}, "per_node.distinct")
	add(rule{how: given, check: "groups"}, "per_node.layers")
	add(rule{how: within, check: "loss", apart: upTo(sameMatrix)}, "per_node.losses[]")
	add(rule{how: within, check: "group bound", apart: upTo(1e-11)}, "per_node.group_bound")
	add(rule{how: judged, check: "sensitivity"}, "sens_squared", "sens_kind")
	add(rule{how: within, check: "loss", apart: upTo(sameMatrix), network: true, absent: true}, "squared_error",
		"loss")
	add(rule{how: within, check: "arithmetic", apart: upTo(sameFormula), network: true}, "loss")
	add(rule{how: within, check: "arithmetic", apart: upTo(sameFormula), network: true, absent: true}, "rmse")
	add(rule{how: within, check: "shared loss", apart: twoSearches(0), network: true}, "shared_loss")
	add(rule{how: within, check: "local DP", apart: twoSearches(1e-6), network: true}, "ldp_loss")
	add(rule{how: within, check: "joint bound", apart: jointGap, network: true}, "joint_lower_bound")
	add(rule{how: atMost, check: "lower bound", network: true}, "lower_bound")
	add(rule{how: judged, check: "lower bound", network: true}, "lower_bound_of")
	add(rule{how: within, check: "arithmetic", apart: upTo(sameFormula), network: true}, "gap")
	add(rule{how: unchecked}, "tolerance", "iterations")
	add(rule{how: unchecked, check: "ending"}, "status")
	add(rule{how: unchecked, check: "ending", absent: true}, "history")
	add(rule{how: block, network: true, absent: true}, "baselines")
	add(rule{how: within, check: "baselines", apart: upTo(1e-11)}, "baselines.*.sens_squared")
	add(rule{how: within, check: "baselines", apart: baselineGap}, "baselines.*.squared_error", "baselines.*.loss")
	add(rule{how: within, check: "arithmetic", apart: upTo(sameFormula)}, "baselines.*.loss")
	add(rule{how: within, check: "arithmetic", apart: atPrivacy}, "baselines.*.error_at_privacy")
	add(rule{how: within, check: "plain strategy", apart: plainGap, network: true}, "plain_strategy_loss")
	add(rule{how: judged, check: "privacy"}, "privacy", "budgets[].node", "budgets[].mu", "budgets[].epsilon",
		"budgets[].delta", "budgets[].clip", "budgets[].noise_std")
	add(rule{how: within, check: "one batch", apart: twoSearches(0), network: true}, "one_batch_loss")
	add(rule{how: within, check: "one level", apart: twoSearches(0), network: true}, "one_level_loss")
	add(rule{how: within, check: "arithmetic", apart: upTo(2 * sameFormula), network: true}, "error_at_privacy")
	add(rule{how: within, check: "sampling", apart: upTo(sameFormula), network: true}, "error_at_privacy")
	add(rule{how: within, check: "arithmetic", apart: upTo(4 * sameFormula), network: true}, "cyclic_error_at_privacy")
	add(rule{how: within, check: "candidates", apart: candidateGap, network: true}, "cyclic_error_at_privacy")
	add(rule{how: given}, "sampling.scheme")
	add(rule{how: exactly, check: "sampling"}, "sampling.groups", "sampling.probability", "sampling.rounds")
	add(rule{how: within, check: "sampling", apart: upTo(sameNoise)}, "sampling.noise_multiplier")
	add(rule{how: given}, "sampling.records", "sampling.max_batch")
	add(rule{how: judged, check: "privacy"}, "sampling.overflow", "sampling.epsilon", "sampling.epsilon_lower",
		"sampling.delta")
	add(rule{how: judged, check: "sampling"}, "sampling.candidates[].bandwidth")
	add(rule{how: within, check: "sampling", apart: upTo(sameNoise)}, "sampling.candidates[].noise_multiplier")
	add(rule{how: within, check: "candidates", apart: candidateGap}, "sampling.candidates[].error_at_privacy")
	add(rule{how: unchecked}, "sampling.candidates[].optimized_for")
	add(rule{how: within, check: "secret bound", apart: secretGap, network: true}, "sampling.lower_bound")
	add(rule{how: judged, check: "sampling"}, "sampling.failure_probability", "sampling.samples", "sampling.seed",
		"sampling.confirmations", "sampling.confirmed_delta") // by samples that are drawn again
	add(rule{how: unchecked}, "sampling.noise_multiplier_estimate")
	add(rule{how: judged, check: "contract"}, "contract")
	add(rule{how: unchecked}, "seconds")
	add(rule{how: unchecked, absent: true}, "peak_bytes")
	add(rule{how: judged, check: "hashes"}, "files")
	return all
}

// twoSearches allows for two searches for the same optimum: twice the tolerance of the manifest, or twice the gap that
// the second search ended at, or twice the least, whichever is more.
func twoSearches(least float64) tolerance {
	return func(v *verification, key string) float64 {
		return 2 * math.Max(math.Max(v.export.Manifest.Tolerance, least), v.reached[key])
	}
}

// candidateGap allows for two searches for the strategy of a candidate.
func candidateGap(v *verification, _ string) float64 { return 2*v.candidateGap() + sameMatrix }

// secretGap allows for other optima that a lower bound under secret batches is made with, each known to a gap.
func secretGap(v *verification, _ string) float64 { return 4*v.candidateGap() + sameMatrix }

// baselineGap is how far a baseline's cost is known. D-MF and the optimum for the mean are optima of other objectives:
// known to the root of the gap that they are optimized to. The others that are searched for stop much earlier than
// rounding.
func baselineGap(v *verification, key string) float64 {
	switch baselineOf(key) {
	case baselines.DMF:
		return math.Sqrt(baselines.DMFGap(v.spec, v.export.Manifest.Steps))
	case baselines.LDPOptimal, baselines.DECOR, baselines.DECORInTime:
		return 2e-6
	case baselines.MeanOptimal:
		return 1e-3 // √1e-6
	}
	return sameMatrix
}

// atPrivacy is how far a baseline's error at the privacy is known: under Poisson sampling its noise is calibrated
// again.
func atPrivacy(v *verification, _ string) float64 {
	if v.export.Manifest.Sampled() {
		return sameNoise
	}
	return 4 * sameFormula
}

// plainGap is how far the loss of an optimum for another workload is known.
func plainGap(v *verification, _ string) float64 {
	if m := v.export.Manifest; m.Objective != "" || m.Steps > strategy.LongSteps {
		return 0.1 // searches that stop much earlier
	}
	return math.Sqrt(factorize.MinGap(v.export.Manifest.Steps))
}

// jointGap is how far apart two proofs of the joint bound are.
func jointGap(v *verification, key string) float64 { return 2 * v.reached[key] }

// inside reports whether a key is another one, or in it.
func inside(key, block string) bool {
	rest, ok := strings.CutPrefix(key, block)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
