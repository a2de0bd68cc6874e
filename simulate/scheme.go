package simulate

import (
	"slices"
	"strings"

	"mafalda/accounting"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/workload"
)

// MethodsFor returns the MethodNames that are worth a comparison at equal trust: Ignorant where it differs from
// Uncurved, and every method for which the scheme has an accountant.
//
// In turn, levels are μ, against attackers who know who is in which batch. Under the others they are ε, and batches have as
// many records in expectation. The optimum is plan.Solve's at the level: under Poisson, Truncated and Allocation of the best
// number of bands, each from a group, under Bins of the best strategy that is found. Independent noise has one group, so that
// its probability is 1/b.
func MethodsFor(s participation.Scheme, w workload.Spec) []string {
	switch {
	case s != participation.InTurn:
		return []string{None, baselines.DPDSGD, Mafalda}
	case w.IsPlain():
		return slices.Concat([]string{None}, baselines.Names(), []string{Uncurved, Mafalda})
	}
	return slices.Concat([]string{None}, baselines.Names(), []string{Ignorant, Uncurved, Mafalda})
}

// checkScheme finds options that batches drawn in secret do not go with.
func (o StudyOptions) checkScheme() error {
	switch {
	case !o.Sampling.Known():
		return fault.New("Sampling", int(o.Sampling), "must be %s", strings.Join(participation.Schemes(), ", "))
	case o.Sampling == participation.InTurn && o.Bandwidth != 0:
		return fault.New("Bandwidth", o.Bandwidth, "only where batches are drawn in secret")
	case o.Sampling == participation.InTurn:
		return nil
	case o.Bandwidth < 0:
		return fault.New("Bandwidth", o.Bandwidth, "must be at least 1")
	case len(o.Mus) > 0:
		return fault.New("Mus", o.Mus[0], "does not describe batches drawn in secret: give levels of epsilon")
	case len(o.Epsilons) == 0:
		return fault.New("Epsilons", nil, "is missing: batches drawn in secret have noise for an epsilon and a delta")
	case o.Adjacency != accounting.ZeroOut:
		return fault.New("Adjacency", o.Adjacency, "not accounted for where batches are drawn in secret: only %v is",
			accounting.ZeroOut)
	}
	why, exports := "has more bands than a node has batches, so that its columns meet in every group", "with bands"
	if o.Sampling == participation.Bins {
		why, exports = "is not compared there", "without negative entries"
	}
	for _, name := range o.Methods {
		if name == Ignorant || name == Uncurved {
			why = "is not compared there"
		} else if isShared(name) {
			why = "is for batches in turn"
		}
		if slices.Contains(MethodNames(), name) && !slices.Contains(MethodsFor(o.Sampling, workload.Spec{}), name) {
			return fault.New("Methods", name, "%s: sampling %v is for %s, and folders of exports %s", why, o.Sampling,
				strings.Join(MethodsFor(o.Sampling, workload.Spec{}), ", "), exports)
		}
	}
	return nil
}
