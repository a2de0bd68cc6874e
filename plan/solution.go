package plan

import (
	"time"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/lists"
	"mafalda/optim"
	"mafalda/strategy"
)

// Solution is the best strategy for a problem, or the best strategies of single nodes, and what is known of them.
type Solution struct {
	Problem Problem
	Options Options     // options with the defaults filled in
	Gram    export.Gram // how the Gram matrix was computed and, if it is an estimate, how far off the loss may be

	Optimum *factorize.Result // best of all strategies, or of a relaxation where patterns overlap; nil for many steps
	OfClass *factorize.Result // the best of Options.Class; nil where Optimum is
	Fitting []Fitting         // what OfClass was chosen from with Options.Budget; Options.Class is then the choice

	Family *export.Family // what a problem that is one of several, unknown which, costs; nil for a single one

	Quality    factorize.Quality // sensitivity and errors of what Export writes
	LowerBound float64           // no strategy, or none a node, has a smaller loss; 0: none is known
	// Gap is (Quality.Loss - LowerBound)/LowerBound, or the same of ErrorAtPrivacy and Sampling.LowerBound where batches are
	// drawn in secret, rounded up; 0 where there is no bound.
	Gap       float64
	Baselines []baselines.Measured
	// PlainLoss is the loss of the strategy of the class that is best for the plain workload, UncurvedLoss that of the
	// best for gradients that do not react; 0: not measured.
	PlainLoss, UncurvedLoss float64
	History                 []export.Point // search for Optimum, after every iteration

	Privacy *export.Privacy    // the noise for the privacy asked for; nil for none. With Problem.Levels, strict enough for every node
	Budgets []export.NodeLevel // levels of the nodes, each with its noise; nil without Problem.Levels
	// OneLevelLoss is, with Problem.Levels, the least loss where all nodes have the level of Privacy; 0 if unknown.
	OneLevelLoss float64
	OneBatchLoss float64          // least loss where every person is in one batch; 0 if unknown, or if no person is in several
	Sampling     *export.Sampling // how batches are to be drawn, with an (ε, δ) asked for
	// ErrorAtPrivacy is the squared error with the noise for the (ε, δ) asked for, over clip²; 0 if unknown.
	// CyclicErrorAtPrivacy is that error of the dense optimum for batches in turn; 0 if unknown.
	ErrorAtPrivacy, CyclicErrorAtPrivacy float64
	// DPDSGDRatio is the error of DP-D-SGD with Poisson sampling at the same (ε, δ), over ErrorAtPrivacy; 0 if it was not
	// computed, +Inf where DP-D-SGD has no noise for the (ε, δ), or does not compare.
	DPDSGDRatio float64

	Ending    Ending
	Took      time.Duration
	PeakBytes int64             // most memory of the whole process
	Files     map[string]string // SHA-256 of what the last Export has written, by name

	Split *factorize.Split // strategies of single nodes or groups, if they were asked for; nil where Options.Parts leaves some to others
	Space *Space           // where nodes share noise: then Optimum and OfClass are for this noise between nodes
	Drawn                  // where batches are drawn in secret

	mode         mode    // the mode that made it
	overlapBound float64 // lower bound by factorize.OverlapBound, if patterns overlap; else 0
}

// Drawn is what a solution has for batches that are drawn in secret. Under Poisson sampling its Optimum, OfClass,
// Quality and LowerBound are for a single participation of every record. Under Bins they are for the schema, as if
// the draw were known, and OfClass has no certificate.
type Drawn struct {
	Cyclic     *factorize.Result // the dense optimum for batches in turn
	Candidates []Bands           // costs by ascending bands; one of them is OfClass
	Excluded   int               // how many other numbers of bands, up to b, were shown to have no smaller error
}

// Ending says how the first search that did not reach its tolerance ended, or how the last one did.
type Ending struct {
	Status     optim.Status // Converged, or why not: the solution is then the best so far
	Iterations int
	Gap        float64 // certified
}

// Strategy returns the strategy that all nodes run, or would if nodes had none of their own.
func (s *Solution) Strategy() strategy.Strategy { return s.best().Strategy }

// Strategies returns the strategies of the layers of an export: one a node with Options.PerNode, one a group with
// Options.Groups (node i is of group Split.Of[i]), or Strategy alone.
func (s *Solution) Strategies() []strategy.Strategy {
	if s.Split == nil {
		return []strategy.Strategy{s.Strategy()}
	}
	if !s.Options.PerNode {
		return s.Split.Strategies
	}
	return lists.Map(s.Split.Of, func(g int) strategy.Strategy { return s.Split.Strategies[g] })
}
