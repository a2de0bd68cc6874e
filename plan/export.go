package plan

import (
	"io"
	"math"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/version"
	"mafalda/optim"
	"mafalda/participation"
)

// Export writes the solution to the folder dir: matrices C and C⁻¹, or one array of each if nodes have strategies of
// their own; the nodes; the gossip matrix, unless it is very large (export.Gossip); and the manifest. Structured
// strategies of more than 4096 steps are written as parameters alone. It fails as export.WriteDir does, and for a strategy that
// cannot be inverted, and leaves nothing behind then.
func (s *Solution) Export(dir string, o export.WriteOptions) error {
	if err := s.Problem.CheckExport(s.Options, "", o); err != nil {
		return err
	}
	files, err := s.matrices(o)
	if err != nil {
		return err
	}
	n := s.Problem.known()
	switch {
	case s.Space != nil:
		shared, err := s.Space.shared.Files(n.Graph)
		if err != nil {
			return err
		}
		files = append(files, shared...)
	case n != nil:
		files = append(files,
			export.File{Name: "nodes.csv", Write: func(w io.Writer) error { return graph.WriteNodes(w, n.Graph) }})
	}
	if n != nil && s.Problem.Workload.RandomNeighbours == 0 { // else no step has a matrix
		if w, written := export.Gossip(n.Matrices()); written {
			files = append(files, w)
		}
	}
	m := s.Manifest()
	m.Command = o.Command
	if err := export.WriteDir(dir, m, files, o); err != nil {
		return err
	}
	s.Files = m.Files
	return nil
}

func (s *Solution) matrices(o export.WriteOptions) ([]export.File, error) {
	switch {
	case s.Split != nil:
		return export.Layers(s.Strategies()), nil
	case s.Options.dense() || !o.ParametersOnly && s.Problem.Schema.Steps() <= denseSteps:
		return export.Matrices(s.Strategy(), o.Format)
	}
	return nil, nil
}

// Manifest returns everything there is to say about the solution: what an export says of itself. Files are those that
// Export has written.
func (s *Solution) Manifest() *export.Manifest {
	p := s.Problem
	m := &export.Manifest{
		Version: version.String(), Workload: p.Workload.Kind.String(), WorkloadSpec: &p.Workload, Curvature: p.Curvature, Family: s.Family, Steps: p.Schema.Steps(),
		Participation: export.DescribeSchema(p.SchemaFile, p.Schema), Gram: &s.Gram, Strategy: s.describe(),
		SensSquared: s.Quality.Sensitivity.Squared, SensKind: s.Quality.Sensitivity.Kind(),
		SquaredError: s.Quality.SquaredError, Loss: s.Quality.Loss, LowerBound: s.LowerBound, Gap: s.Gap,
		RMSE:      s.Quality.RMSE(p.nodes(), p.Objective.Steps(p.Workload, p.Schema.Steps())),
		Tolerance: s.Options.Tolerance, Status: optim.Converged.String(), History: s.History, Privacy: s.Privacy,
		PlainStrategyLoss: s.PlainLoss, UncurvedStrategyLoss: s.UncurvedLoss, ErrorAtPrivacy: s.ErrorAtPrivacy, CyclicErrorAtPrivacy: s.CyclicErrorAtPrivacy, Sampling: s.Sampling,
		Budgets: s.Budgets, OneLevelLoss: s.OneLevelLoss, OneBatchLoss: s.OneBatchLoss,
		Seconds: s.Took.Seconds(), PeakBytes: s.PeakBytes, Files: s.Files,
	}
	if s.Optimum != nil {
		m.Status, m.Iterations = s.Optimum.Status.String(), s.Optimum.Iterations
	}
	if s.OfClass != nil {
		m.Iterations = s.OfClass.Iterations
	}
	if n := p.known(); n != nil {
		m.Graph = new(n.Origin)
	}
	for _, b := range s.Baselines {
		if m.Baselines == nil {
			m.Baselines = map[string]export.Baseline{}
		}
		m.Baselines[b.Name] = export.Baseline{SensSquared: b.Sensitivity.Squared, SquaredError: b.SquaredError, Loss: b.Loss,
			ErrorAtPrivacy: m.ErrorAtPrivacy / m.Loss * b.Loss}
	}
	s.mode.describe(s, m)
	m.LowerBoundOf, m.Contract = m.BoundOf(), m.DescribeContract()
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
	return d
}
