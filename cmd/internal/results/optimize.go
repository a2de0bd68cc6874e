package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/factorize/spacetime"
	"mafalda/internal/lists"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// exported is a strategy as its page has it: what was asked, how it compares, what is proven, and what it costs a node.
type exported struct {
	*export.Manifest
	Solution  *plan.Solution // nil: the strategy is from a folder, and what is not in its manifest is not said
	Adjacency string         // that was asked for, or the manifest's; empty: none

	Separable string
	LongSteps int
}

var exportPage = document.Page[*exported](pages, "export")

// ExportDocument says what a strategy is, whose solution may be known, and the adjacency that was asked for.
func ExportDocument(m *export.Manifest, s *plan.Solution, adjacency string) *document.Document {
	if m.Privacy != nil {
		adjacency = cmp.Or(adjacency, m.Privacy.Adjacency)
	}
	d := exportPage(&exported{m, s, adjacency, spacetime.Separable, strategy.LongSteps})
	d.Version = m.Version
	const loss = 2 // behind privacy and sensitivity
	d.Summarize("loss", "%s", d.Certified[loss])
	return d
}

// TrainingFacts are those of the workload, and of how gradients react.
func (r *exported) TrainingFacts() []document.Fact {
	return slices.Concat(flags.WorkloadFacts(*r.WorkloadSpec), flags.CurvatureFacts(r.Curvature))
}

// BudgetFacts say what memory was asked for, where that is known.
func (r *exported) BudgetFacts() []document.Fact {
	if r.Solution == nil {
		return nil
	}
	return flags.BudgetFacts(r.Solution)
}

// AdjacencyText says what neighbours are; empty if that is not known.
func (r *exported) AdjacencyText() string {
	if r.Adjacency == "" {
		return ""
	}
	return flags.AdjacencyText(r.Adjacency, r.Participation.Unit())
}

// Contribution says how far a record can move a sum.
func (r *exported) Contribution() string { return flags.ContributionText(r.Adjacency) }

// Clipped says what is clipped.
func (r *exported) Clipped() string { return flags.Clipped(r.Participation.Unit()) }

// Counted is the error that counts; of a manifest that was changed, the mean.
func (r *exported) Counted() measure.Objective {
	o, err := measure.ParseObjective(cmp.Or(r.Objective, measure.Mean.String()))
	if err != nil {
		return measure.Mean
	}
	return o
}

// Pattern is who takes part when; nil if a manifest was changed so that it says no schema.
func (r *exported) Pattern() participation.Schema {
	if r.Solution != nil {
		return r.Solution.Problem.Schema
	}
	schema, err := r.Schema()
	if err != nil {
		return nil
	}
	return schema
}

// Partition reports whether no two patterns of participation overlap.
func (r *exported) Partition() bool {
	schema := r.Pattern()
	return schema != nil && participation.IsPartition(schema)
}

// Turnout says how often a record takes part whose steps are drawn in secret; empty: not more often than its schema says.
func (r *exported) Turnout() string {
	switch {
	case !r.Sampled() || r.Binned():
		return ""
	case !r.Sampling.Kind().Traits().Independent:
		return fmt.Sprintf("k = %d times, in steps that are drawn in secret", r.Participation.K)
	}
	times := fmt.Sprintf("%.4g times", r.Sampling.Probability*float64(r.Sampling.Rounds))
	if times == "1 times" {
		times = "once"
	}
	return times + " on average, in steps that are drawn in secret"
}

// Trusted is the number of nodes in none of the coalitions that were listed.
func (r *exported) Trusted() int {
	if r.Space.Coalitions.Size != 0 {
		return 0
	}
	named := slices.Sorted(slices.Values(slices.Concat(r.Space.Coalitions.Sets...)))
	return r.Graph.Nodes - len(slices.Compact(named))
}

// Errors is how many errors the loss is a sum of.
func (r *exported) Errors() float64 {
	nodes := 1
	if r.Graph != nil {
		nodes = r.Graph.Nodes
	}
	return float64(nodes) * r.Counted().Steps(*r.WorkloadSpec, r.Steps)
}

// Optimum is the loss of the dense optimum, or of the best strategy that all nodes share.
func (r *exported) Optimum() float64 {
	if r.Strategy.Ratio != 0 {
		return r.Loss / r.Strategy.Ratio
	}
	return r.Loss
}

// compared is a strategy, or noise, beside others.
type compared struct {
	Name string
	export.Baseline
}

// Beside lists what the strategy is compared with, itself first.
func (r *exported) Beside() []compared {
	optimum := r.Optimum()
	all := []compared{{r.name(), export.Baseline{SensSquared: r.SensSquared, SquaredError: r.SquaredError, Loss: r.Loss,
		ErrorAtPrivacy: r.ErrorAtPrivacy}}}
	names := []compared{{Name: baselines.MeanOptimal}, {Name: baselines.DMF}, {Name: baselines.DPDSGD}, {Name: baselines.AntiPGD}}
	about := map[string]string{}
	switch {
	case r.Space != nil:
		names = []compared{{Name: baselines.DECORInTime}, {Name: baselines.DECOR}, {Name: baselines.LDPOptimal}}
		about = map[string]string{baselines.DECORInTime: "DECOR, this strategy", baselines.DECOR: "DECOR",
			baselines.LDPOptimal: "LDP optimum"}
	case r.Strategy.Ratio != 0:
		name := "dense (optimal)"
		if r.PerNode != nil {
			name = "shared (optimal)"
		}
		all = append(all, compared{name, export.Baseline{SensSquared: 1, SquaredError: optimum, Loss: optimum}})
	}
	for _, of := range names {
		b, there := r.Baselines[of.Name]
		if !there {
			continue
		}
		name := cmp.Or(about[of.Name], of.Name)
		if r.Space != nil && b.Loss < r.Loss {
			name += " (less, within the gap)"
		}
		all = append(all, compared{name, b})
	}
	return all
}

// name says what the strategy is called beside others.
func (r *exported) name() string {
	s, searched := r.Strategy, r.Status == optim.Converged.String()
	switch {
	case r.Space != nil && searched:
		return "space and time"
	case r.Space != nil:
		return "space and time (so far)"
	case r.PerNode != nil && r.PerNode.Groups == 0:
		return fmt.Sprintf("mafalda, %d for %d nodes", r.PerNode.Distinct, len(r.PerNode.Layers))
	case r.PerNode != nil:
		return fmt.Sprintf("mafalda, %d groups", r.PerNode.Distinct)
	case s.Buffers > 0:
		return fmt.Sprintf("%s, %d buffers", s.Class, s.Buffers)
	case s.Class != factorize.Dense{}.Name():
		return fmt.Sprintf("%s, w = %d", s.Class, s.Bandwidth)
	case !r.Partition():
		return "mafalda"
	case !searched:
		return "mafalda (so far)"
	}
	return "mafalda (optimal)"
}

// LeastError is the least error of the candidates at the privacy.
func (r *exported) LeastError() float64 {
	return slices.Min(append(lists.Map(r.Solution.Candidates, func(c plan.Bands) float64 { return c.ErrorAtPrivacy }), math.Inf(1)))
}

// MostBands says how many bands the candidates may have.
func (r *exported) MostBands() string {
	separation, b := r.Solution.Problem.Schema.Separation(), r.Solution.Options.Budget
	if b != nil && b.Floats()+1 < separation {
		return fmt.Sprintf("the %d that fit", b.Floats()+1)
	}
	return fmt.Sprintf("b = %d", separation)
}

func byNoise(a, b export.NodeLevel) int { return cmp.Compare(a.NoiseStd, b.NoiseStd) }

// LeastNoise is the level of the node with the least noise.
func (r *exported) LeastNoise() export.NodeLevel { return slices.MinFunc(r.Budgets, byNoise) }

// MostNoise is the level of the node with the most noise.
func (r *exported) MostNoise() export.NodeLevel { return slices.MaxFunc(r.Budgets, byNoise) }

// Took is how long the search took.
func (r *exported) Took() time.Duration {
	return time.Duration(r.Seconds * float64(time.Second)).Round(time.Millisecond)
}

// PeakMemory is how many bytes the search took.
func (r *exported) PeakMemory() float64 { return float64(r.PeakBytes) }
