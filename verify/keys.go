package verify

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/participation"
	"mafalda/strategy"
)

// comparison says how what the manifest says of a key is compared with what is computed again.
type comparison string

const (
	// exactly: equal, to the last bit; within: equal up to a relative difference; atMost: not above what may be
	// claimed.
	exactly comparison = "exactly"
	within  comparison = "within"
	atMost  comparison = "at most"
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
	key   string // name of the key, as in export.Key
	how   comparison
	check string
	apart tolerance // largest relative difference, for the comparison within; nil for none

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

// rules returns the rules of all keys, in the order of manifests: the tags verify of package export's fields, such as
//
//	within sums in loss; within formula in arithmetic; network
//
// A list that is to be within a tolerance is compared entry by entry. The rule of an object, other than block, is the one of all
// that is in it.
var rules = sync.OnceValue(func() []rule {
	var all []rule
	for _, k := range export.Keys() {
		covered := func(r rule) bool { return r.how != block && r.key != k.Name && inside(k.Name, r.key) }
		if k.Rules == "" || slices.ContainsFunc(all, covered) {
			continue
		}
		parts := strings.Split(k.Rules, "; ")
		network, absent := slices.Contains(parts, "network"), slices.Contains(parts, "absent")
		for _, part := range parts {
			how, check, _ := strings.Cut(part, " in ")
			how, apart, is := strings.Cut(how, string(within)+" ")
			r := rule{key: k.Name, how: comparison(how), check: check, network: network, absent: absent}
			switch {
			case part == "network" || part == "absent":
				continue
			case is:
				r.how, r.apart = within, toleranceOf(apart)
			}
			if is && k.Kind == "list" {
				r.key += "[]"
			}
			all = append(all, r)
		}
	}
	return all
})

// toleranceOf returns the tolerance of a word, or of a number; nil for others.
func toleranceOf(word string) tolerance {
	if x, err := strconv.ParseFloat(word, 64); err == nil {
		return upTo(x)
	}
	return map[string]tolerance{"formula": upTo(sameFormula), "2 formulas": upTo(2 * sameFormula), "4 formulas": upTo(4 * sameFormula),
		"sums": upTo(sameMatrix), "noise": upTo(sameNoise), "searches": twoSearches(0), "fine searches": twoSearches(1e-9), "coarse searches": twoSearches(1e-6),
		"joint": jointGap, "baseline": baselineGap, "privacy": privacyTolerance, "plain": plainGap, "candidate": candidateGap,
		"secret": secretGap}[word]
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
// known to the root of the gap that they are optimized to, which patterns that overlap do not let D-MF reach. The others that
// are searched for stop much earlier than rounding.
func baselineGap(v *verification, key string) float64 {
	switch baselineOf(key) {
	case baselines.DMF:
		if !participation.IsPartition(v.schema) {
			return 1e-2
		}
		return math.Sqrt(baselines.DMFGap(v.spec, v.export.Manifest.Steps))
	case baselines.LDPOptimal, baselines.DECOR, baselines.DECORInTime:
		return 2e-6
	case baselines.MeanOptimal:
		return 1e-3 // √1e-6
	}
	return sameMatrix
}

// privacyTolerance is how far a baseline's error at the privacy is known: under Poisson sampling its noise is calibrated
// again.
func privacyTolerance(v *verification, _ string) float64 {
	if v.export.Manifest.Sampled() {
		return sameNoise
	}
	return 4 * sameFormula
}

// plainGap is how far the loss of an optimum for another workload is known.
func plainGap(v *verification, _ string) float64 {
	if v.plainIsCoarse() {
		return 0.1
	}
	return math.Sqrt(factorize.MinGap(v.export.Manifest.Steps))
}

// plainIsCoarse reports whether only the first digits of that loss are known: the search stops much earlier, or it is one for
// poles or for patterns that overlap, which proves no small gap and ends elsewhere where another processor rounds otherwise.
func (v *verification) plainIsCoarse() bool {
	m := v.export.Manifest
	return m.Objective != "" || m.Steps > strategy.LongSteps || m.Strategy.Buffers > 0 || !participation.IsPartition(v.schema)
}

// jointGap is how far apart two proofs of the joint bound are.
func jointGap(v *verification, key string) float64 { return 2 * v.reached[key] }

// inside reports whether a key is another one, or in it.
func inside(key, block string) bool {
	rest, ok := strings.CutPrefix(key, block)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
