package plan

import (
	"fmt"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// requestSet is a set of what a problem and its options may ask for, and not everything else goes together with.
type requestSet uint

const (
	prefixWorkload requestSet = 1 << iota
	otherObjective
	freeNoise
	changingNetwork
	changingSteps
	estimatedGram
	overlappingPatterns
	otherSchema
	manySteps
	longRun
	sharedNoise
	nodeLevels
	unknownFamily
	memoryBudget
	otherClass
	unbanded
	uncertified
	severalStrategies
	givenStart
	keptSearch
	secretBatches
	otherDraw
	randomBins
	localSteps
	wholeSilos
)

// request is something that is asked for.
type request struct {
	of      requestSet
	is      bool
	field   string
	what    string     // a noun
	without requestSet // does not go together with it; of two requests one has the other
}

// requests returns the one table of what goes together; the options have their defaults.
func (p Problem) requests(o Options) []request {
	s, w, class := p.Schema, p.Workload, o.Class
	_, cyclic := s.(participation.Cyclic)
	_, banded := class.(factorize.Banded)
	steps, scheme := s.Steps(), o.Sampling
	field, family := "Risk", "a curvature that nobody knows"
	if len(p.Others) > 0 {
		field, family = "Others", "a choice of several networks"
	}
	return []request{
		{prefixWorkload, w.Kind == workload.Prefix, "Workload", "the prefix workload (no nodes)",
			sharedNoise | nodeLevels | severalStrategies | estimatedGram},
		{otherObjective, p.Objective != Mean, "Objective", fmt.Sprintf("[Objective] %v", p.Objective), sharedNoise | nodeLevels |
			severalStrategies | secretBatches | longRun | overlappingPatterns | otherClass | givenStart | keptSearch},
		{unknownFamily, p.unknown(), field, family, otherObjective |
			sharedNoise | nodeLevels | severalStrategies | memoryBudget | secretBatches | longRun | overlappingPatterns | uncertified},
		{sharedNoise, p.Sharing != nil, "Trust", "noise that nodes share", freeNoise | manySteps},
		{nodeLevels, p.Levels != nil, "Budgets", "[Budgets]", changingNetwork | longRun},
		{severalStrategies, o.split(), "Groups", "[PerNode] or [Groups]",
			sharedNoise | secretBatches | longRun | overlappingPatterns},
		{memoryBudget, o.Budget != nil, "Memory", "[Memory]", sharedNoise | randomBins},
		{secretBatches, scheme != participation.InTurn, "Sampling", fmt.Sprintf("[Sampling] %v", scheme), otherSchema | nodeLevels},
		{otherDraw, scheme > participation.Poisson, "Sampling", fmt.Sprintf("[Sampling] %v", scheme), sharedNoise},
		{randomBins, scheme == participation.Bins, "Sampling", "[Sampling] bins", manySteps},
		{givenStart, o.StartFrom != "", "StartFrom", "[StartFrom]", sharedNoise | secretBatches | longRun},
		{keptSearch, o.Checkpoint != "", "Checkpoint", "[Checkpoint]", secretBatches | longRun},
		{estimatedGram, p.Gram.Method > GramExact, "Method", fmt.Sprintf("[Method] %v", p.Gram.Method), sharedNoise | nodeLevels},
		{wholeSilos, s.Name() == "silo", "Unit", "[Unit] silo, whose whole update is in every step,", secretBatches | localSteps},
		{localSteps, w.LocalSteps > 1, "Workload", "local steps that are steps of the plan", 0},
		{longRun, p.long(o), "Steps", fmt.Sprintf("a run of more than %d steps", strategy.LongSteps), otherSchema | changingSteps},
		{overlappingPatterns, !participation.IsPartition(s), "Schema", "participation whose patterns overlap (" + s.Name() + ")", sharedNoise},
		{otherSchema, !cyclic, "Schema", "participation that is not cyclic (" + s.Name() + ")", 0},
		{manySteps, steps > strategy.LongSteps, "Steps", fmt.Sprintf("a run of more than %d steps", strategy.LongSteps), 0},
		{freeNoise, w.HasFreeNoise(steps), "Weights", "steps whose noise costs nothing", 0},
		{changingNetwork, !w.IsStatic() || w.MissedSteps > 0, "Workload", "networks that change or missed steps", 0},
		{changingSteps, !w.IsTimeInvariant(), "Workload", "steps that differ, in rates, gossip or network, or are missed", 0},
		{otherClass, !o.dense(), "Class", "a class that is not dense ([Class] " + class.Name() + ")", severalStrategies},
		{unbanded, !banded, "Class", "a class that is not banded ([Class] " + class.Name() + ")", secretBatches},
		{uncertified, !class.Traits().Certified, "Class", "a class without a certificate ([Class] " + class.Name() + ")", 0},
	}
}

// checkTogether rejects requests that do not go together.
func (p Problem) checkTogether(o Options) error {
	all := p.requests(o)
	for _, r := range all {
		for _, other := range all {
			if r.is && other.is && r.without&other.of != 0 {
				return r.refused(other.what)
			}
		}
	}
	return nil
}

// refused says what a request is not for.
func (r request) refused(what string) error {
	return fault.New(r.field, nil, "%s is not for %s", r.what, what)
}

// refuse rejects the requests of a set, for something that does without.
func (p Problem) refuse(o Options, set requestSet, what string) error {
	for _, r := range p.requests(o.filled(p)) {
		if r.is && set&r.of != 0 {
			return r.refused(what)
		}
	}
	return nil
}
