package plan

import (
	"math"

	"mafalda/export"
	"mafalda/factorize/baselines"
	"mafalda/internal/version"
	"mafalda/optim"
	"mafalda/participation"
)

// Manifest returns everything there is to say about the solution: what an export says of itself. Files are those that
// Export has written.
func (s *Solution) Manifest() *export.Manifest {
	p := s.Problem
	m := &export.Manifest{
		Version: version.String(), Workload: p.Workload.Kind.String(), WorkloadSpec: &p.Workload, Steps: p.Schema.Steps(),
		Participation: export.DescribeSchema(p.SchemaFile, p.Schema), Gram: &s.Gram, Strategy: s.describe(),
		SensSquared: s.Quality.Sensitivity.Squared, SensKind: s.Quality.Sensitivity.Kind(),
		SquaredError: s.Quality.SquaredError, Loss: s.Quality.Loss, LowerBound: s.LowerBound, Gap: s.Gap,
		RMSE:      s.Quality.RMSE(p.nodes(), p.Objective.Steps(p.Workload, p.Schema.Steps())),
		Tolerance: s.Options.Tolerance, Status: optim.Converged.String(), History: s.History, Privacy: s.Privacy,
		PlainStrategyLoss: s.PlainLoss, ErrorAtPrivacy: s.ErrorAtPrivacy, CyclicErrorAtPrivacy: s.CyclicErrorAtPrivacy, Sampling: s.Sampling,
		Seconds: s.Took.Seconds(), PeakBytes: s.PeakBytes, Files: s.Files,
	}
	if s.Optimum != nil {
		m.Status, m.Iterations = s.Optimum.Status.String(), s.Optimum.Iterations
	}
	if s.OfClass != nil {
		m.Iterations = s.OfClass.Iterations
	}
	if s.Split != nil {
		m.PerNode, m.SharedLoss, m.Iterations = s.layers(), s.Optimum.Loss, s.Split.Iterations
	}
	if p.Network != nil {
		origin := p.Network.Origin
		m.Graph = &origin
	}
	if p.Objective != Mean {
		m.Objective, m.Weights = p.Objective.String(), s.Optimum.Weights
	}
	if s.Space != nil {
		s.shareIn(m)
	}
	for _, b := range s.Baselines {
		if m.Baselines == nil {
			m.Baselines = map[string]export.Baseline{}
		}
		of := export.Baseline{SensSquared: b.Sensitivity.Squared, SquaredError: b.SquaredError, Loss: b.Loss}
		switch {
		case s.Space != nil && m.Sampled() && b.Name == baselines.DECOR: // one band
			of.ErrorAtPrivacy = errorAtPrivacy(s.Space.decor, 1, b.SquaredError)
		case s.Space != nil || !m.Sampled():
			of.ErrorAtPrivacy = m.ErrorAtPrivacy / m.Loss * b.Loss
		}
		m.Baselines[b.Name] = of
	}
	m.Contract = m.DescribeContract()
	return m
}

// describe returns the parameters of the strategy, and how it compares with the optimum of all and of its class.
func (s *Solution) describe() export.Strategy {
	d := export.Describe(s.Strategy())
	optimum := 0.
	if s.Optimum != nil {
		optimum = s.Optimum.Loss
	}
	if of := s.OfClass; of != nil {
		if participation.IsPartition(s.Problem.Schema) && optimum > 0 {
			d.Ratio = of.Loss / optimum
		}
		if of.ClassBound > 0 {
			b := math.Max(of.ClassBound, math.Max(s.Optimum.LowerBound, s.overlapBound))
			gap := (of.Loss - b) / b
			d.ClassBound, d.ClassGap = b, &gap
		}
	}
	if s.Split != nil {
		d.Ratio = s.Split.Loss / optimum
	}
	return d
}

// layers returns who runs what: one layer a node, or one a group.
func (s *Solution) layers() *export.PerNode {
	split := s.Split
	p := &export.PerNode{Groups: s.Options.Groups, Distinct: len(split.Strategies), Losses: split.Losses,
		GroupBound: split.GroupBound, Layers: split.Of}
	if s.Options.PerNode {
		p.Layers = make([]int, len(split.Of))
		for i := range p.Layers {
			p.Layers[i] = i
		}
	}
	return p
}
