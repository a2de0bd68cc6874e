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
	return []rule{
		{key: "version", how: unchecked},
		{key: "command", how: unchecked},
		{key: "graph", how: block, network: true, absent: true},
		{key: "graph.source", how: exactly, check: "network"},
		{key: "graph.sha256", how: exactly, check: "network"},
		{key: "graph.seed", how: exactly, check: "network"},
		{key: "graph.nodes", how: exactly, check: "network"},
		{key: "graph.edges", how: exactly, check: "network"},
		{key: "graph.dropped_nodes", how: exactly, check: "network"},
		{key: "graph.directed", how: exactly, check: "network"},
		{key: "graph.gossip", how: exactly, check: "network"},
		{key: "graph.gossip_file", how: unchecked},
		{key: "graph.gossip_sha256", how: exactly, check: "network"},
		{key: "graph.sequence_file", how: unchecked},
		{key: "graph.sequence_sha256", how: exactly, check: "network"},
		{key: "workload", how: given, network: true, absent: true},
		{key: "workload_spec", how: given, network: true},
		{key: "curvature.risk", how: given, network: true},
		{key: "curvature.x", how: given, network: true},
		{key: "curvature.directions", how: given, network: true},
		{key: "family.graphs", how: judged, check: "network", network: true},
		{key: "family.weights", how: given, check: "ratios", network: true},
		{key: "family.ratios[]", how: within, check: "ratios", apart: twoSearches(1e-9), network: true},
		{key: "family.bound", how: atMost, check: "ratios", network: true},
		{key: "objective", how: given, network: true, absent: true},
		{key: "objective_weights", how: given, check: "lower bound", network: true},
		{key: "steps", how: given},
		{key: "gram", how: block, network: true, absent: true},
		{key: "gram.method", how: given},
		{key: "gram.probes", how: exactly, check: "estimate"},
		{key: "gram.lanczos_steps", how: given},
		{key: "gram.seed", how: given},
		{key: "gram.confidence", how: judged, check: "estimate"},
		{key: "gram.loss_error", how: within, check: "estimate", apart: upTo(1e-7)},
		{key: "gram.excess_bound", how: within, check: "estimate", apart: upTo(1e-7)},
		{key: "participation.schema", how: exactly, check: "schema"},
		{key: "participation.k", how: exactly, check: "schema"},
		{key: "participation.b", how: exactly, check: "schema"},
		{key: "participation.source", how: exactly, check: "schema"}, // but the name of a file
		{key: "participation.patterns", how: exactly, check: "schema"},
		{key: "participation.person_batches", how: exactly, check: "schema"},
		{key: "trust", how: judged, check: "space"},
		{key: "space.secrets", how: block, network: true},
		{key: "space.secrets.source", how: judged, check: "secrets"},
		{key: "space.secrets.sha256", how: unchecked},
		{key: "space.secrets.pairs", how: exactly, check: "secrets"},
		{key: "space.coalitions", how: given, check: "space"},
		{key: "space.largest_pair", how: judged, check: "secrets", network: true},
		{key: "space.worst", how: judged, check: "space"},
		{key: "space.gap_space", how: judged, check: "space gap", network: true},
		{key: "space.gap_time", how: judged, check: "time gap", network: true},
		{key: "space.own", how: judged, check: "space"}, // not in exports, whose files have them
		{key: "space.pairs", how: judged, check: "space"},
		{key: "strategy.class", how: given, check: "strategy"},
		{key: "strategy.bandwidth", how: exactly, check: "cost"},
		{key: "strategy.buffers", how: exactly, check: "cost"},
		{key: "strategy.diagonals", how: sameLength, check: "cost"}, // the numbers in it make C: see parameters
		{key: "strategy.coefficients", how: sameLength, check: "cost"},
		{key: "strategy.column_scales", how: sameLength, check: "cost"},
		{key: "strategy.scale", how: exactly, check: "cost"},
		{key: "strategy.sections", how: sameLength, check: "cost"},
		{key: "strategy.theta[]", how: within, check: "cost", apart: upTo(1e-12)},
		{key: "strategy.omega[]", how: within, check: "cost", apart: upTo(1e-12)},
		{key: "strategy.ratio", how: within, check: "ratio", apart: twoSearches(1e-9), network: true},
		{key: "strategy.ratio", how: within, check: "arithmetic", apart: upTo(sameFormula), network: true},
		{key: "strategy.class_bound", how: atMost, check: "class bound", network: true},
		{key: "strategy.class_gap", how: within, check: "class gap", apart: upTo(sameFormula), network: true},
		{key: "strategy.memory_floats", how: exactly, check: "cost"},
		{key: "strategy.flops_per_step", how: exactly, check: "cost"},
		{key: "per_node", how: block, network: true},
		{key: "per_node.groups", how: judged, check: "groups"},
		{key: "per_node.distinct", how: exactly, check: "groups"},
		{key: "per_node.layers", how: given, check: "groups"},
		{key: "per_node.losses[]", how: within, check: "loss", apart: upTo(sameMatrix)},
		{key: "per_node.group_bound", how: within, check: "group bound", apart: upTo(1e-11)},
		{key: "sens_squared", how: judged, check: "sensitivity"},
		{key: "sens_kind", how: judged, check: "sensitivity"},
		{key: "squared_error", how: within, check: "loss", apart: upTo(sameMatrix), network: true, absent: true},
		{key: "loss", how: within, check: "loss", apart: upTo(sameMatrix), network: true, absent: true},
		{key: "loss", how: within, check: "arithmetic", apart: upTo(sameFormula), network: true},
		{key: "rmse", how: within, check: "arithmetic", apart: upTo(sameFormula), network: true, absent: true},
		{key: "shared_loss", how: within, check: "shared loss", apart: twoSearches(0), network: true},
		{key: "ldp_loss", how: within, check: "local DP", apart: twoSearches(1e-6), network: true},
		{key: "joint_lower_bound", how: within, check: "joint bound", apart: jointGap, network: true},
		{key: "lower_bound", how: atMost, check: "lower bound", network: true},
		{key: "lower_bound_of", how: judged, check: "lower bound", network: true},
		{key: "gap", how: within, check: "arithmetic", apart: upTo(sameFormula), network: true},
		{key: "tolerance", how: unchecked},
		{key: "iterations", how: unchecked},
		{key: "status", how: unchecked, check: "ending"},
		{key: "history", how: unchecked, check: "ending", absent: true},
		{key: "baselines", how: block, network: true, absent: true},
		{key: "baselines.*.sens_squared", how: within, check: "baselines", apart: upTo(1e-11)},
		{key: "baselines.*.squared_error", how: within, check: "baselines", apart: baselineGap},
		{key: "baselines.*.loss", how: within, check: "baselines", apart: baselineGap},
		{key: "baselines.*.loss", how: within, check: "arithmetic", apart: upTo(sameFormula)},
		{key: "baselines.*.error_at_privacy", how: within, check: "arithmetic", apart: atPrivacy},
		{key: "plain_strategy_loss", how: within, check: "plain strategy", apart: plainGap, network: true},
		{key: "uncurved_strategy_loss", how: within, check: "uncurved strategy", apart: plainGap, network: true},
		{key: "privacy", how: judged, check: "privacy"},
		{key: "budgets[].node", how: judged, check: "privacy"},
		{key: "budgets[].mu", how: judged, check: "privacy"},
		{key: "budgets[].epsilon", how: judged, check: "privacy"},
		{key: "budgets[].delta", how: judged, check: "privacy"},
		{key: "budgets[].clip", how: judged, check: "privacy"},
		{key: "budgets[].noise_std", how: judged, check: "privacy"},
		{key: "one_batch_loss", how: within, check: "one batch", apart: twoSearches(0), network: true},
		{key: "one_level_loss", how: within, check: "one level", apart: twoSearches(0), network: true},
		{key: "error_at_privacy", how: within, check: "arithmetic", apart: upTo(2 * sameFormula), network: true},
		{key: "error_at_privacy", how: within, check: "sampling", apart: upTo(sameFormula), network: true},
		{key: "cyclic_error_at_privacy", how: within, check: "arithmetic", apart: upTo(4 * sameFormula), network: true},
		{key: "cyclic_error_at_privacy", how: within, check: "candidates", apart: candidateGap, network: true},
		{key: "sampling.scheme", how: given},
		{key: "sampling.groups", how: exactly, check: "sampling"},
		{key: "sampling.probability", how: exactly, check: "sampling"},
		{key: "sampling.rounds", how: exactly, check: "sampling"},
		{key: "sampling.noise_multiplier", how: within, check: "sampling", apart: upTo(sameNoise)},
		{key: "sampling.records", how: given},
		{key: "sampling.max_batch", how: given},
		{key: "sampling.overflow", how: judged, check: "privacy"},
		{key: "sampling.epsilon", how: judged, check: "privacy"},
		{key: "sampling.epsilon_lower", how: judged, check: "privacy"},
		{key: "sampling.delta", how: judged, check: "privacy"},
		{key: "sampling.candidates[].bandwidth", how: judged, check: "sampling"},
		{key: "sampling.candidates[].noise_multiplier", how: within, check: "sampling", apart: upTo(sameNoise)},
		{key: "sampling.candidates[].error_at_privacy", how: within, check: "candidates", apart: candidateGap},
		{key: "sampling.candidates[].optimized_for", how: unchecked},
		{key: "sampling.lower_bound", how: within, check: "secret bound", apart: secretGap, network: true},
		{key: "sampling.failure_probability", how: judged, check: "sampling"}, // by samples that are drawn again
		{key: "sampling.samples", how: judged, check: "sampling"},
		{key: "sampling.seed", how: judged, check: "sampling"},
		{key: "sampling.confirmations", how: judged, check: "sampling"},
		{key: "sampling.confirmed_delta", how: judged, check: "sampling"},
		{key: "sampling.noise_multiplier_estimate", how: unchecked},
		{key: "contract", how: judged, check: "contract"},
		{key: "seconds", how: unchecked},
		{key: "peak_bytes", how: unchecked, absent: true},
		{key: "files", how: judged, check: "hashes"},
	}
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
