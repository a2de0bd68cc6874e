package export

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/strategy"
	"mafalda/workload"
)

// What an estimate of the Gram matrix can be made of.
const (
	MaxProbes       = 1 << 20
	MaxLanczosSteps = 1 << 16
)

// checkRange refuses manifests with numbers that nothing could be made of, so that no reader has to fear them.
func (m *Manifest) checkRange() error {
	k, b := m.Participation.K, m.Participation.B
	switch {
	case m.Steps < 1 || k < 1 || b < 1:
		return fmt.Errorf("steps %d, k %d, b %d", m.Steps, k, b)
	case m.Participation.Batches < 0 || (m.Participation.Batches > 0) != (m.Participation.Schema == "people"):
		return fmt.Errorf("person_batches %d for the schema %s", m.Participation.Batches, m.Participation.Schema)
	case m.Steps > MaxSteps:
		return fmt.Errorf("%d steps are more than %d", m.Steps, MaxSteps)
	case m.Strategy.Class == "" || m.Workload == "":
		return errors.New("strategy class or workload is missing")
	case !(m.Loss > 0) || !(m.SensSquared > 0) || m.LowerBound < 0 || m.LowerBound == 0 &&
		m.Space == nil && m.Steps <= strategy.LongSteps:
		return errors.New("loss, sens_squared or lower_bound is missing or not positive")
	case m.SquaredError < 0 || m.RMSE < 0 || m.SharedLoss < 0 || m.Tolerance < 0 || m.Iterations < 0 ||
		m.Seconds < 0 || m.PeakBytes < 0:
		return errors.New("squared_error, rmse, shared_loss, tolerance, iterations, seconds or peak_bytes is negative")
	case m.LowerBoundOf != m.BoundOf():
		return fmt.Errorf("lower_bound_of is %q: must be %s, of a lower_bound for a gram that is estimated, or else absent",
			m.LowerBoundOf, OfEstimate)
	case len(m.Weights) > m.Steps:
		return fmt.Errorf("%d objective_weights for %d steps", len(m.Weights), m.Steps)
	case len(m.Files) == 0 && (m.Strategy.Class == "dense" || m.Graph != nil):
		return errors.New("it lists no files")
	}
	for name := range m.Files {
		if err := checkName(name); err != nil {
			return err
		}
	}
	if m.ErrorAtPrivacy < 0 || m.CyclicErrorAtPrivacy < 0 {
		return errors.New("error_at_privacy or cyclic_error_at_privacy is negative")
	}
	if m.OneBatchLoss < 0 || m.OneBatchLoss != 0 && m.Participation.Batches < 2 {
		return errors.New("one_batch_loss is negative, or not of people in several batches")
	}
	if m.UncurvedStrategyLoss < 0 {
		return errors.New("uncurved_strategy_loss is negative")
	}
	if m.PlainStrategyLoss < 0 {
		return errors.New("plain_strategy_loss is negative")
	}
	return cmp.Or(m.checkSpace(), m.checkSpec(), m.Sampling.checkRange(m.Steps), m.Privacy.checkRange(m.Sampled()),
		m.checkLevelRange(), m.Strategy.checkRange(m.Steps),
		m.PerNode.checkRange(), checkOrigin(m.Graph), m.Gram.checkRange())
}

// checkRange refuses more parameters than T steps have room for.
func (s Strategy) checkRange(steps int) error {
	for _, x := range s.Counts() {
		if x.Number < 0 || x.Number > steps {
			return fmt.Errorf("strategy.%s: %d of them, for %d steps", x.Key, x.Number, steps)
		}
	}
	if s.MemoryFloats < 0 || s.FlopsPerStep < 0 || s.Ratio < 0 || s.ClassBound < 0 || s.Scale < 0 {
		return errors.New("strategy: memory_floats, flops_per_step, ratio, class_bound or scale is negative")
	}
	return nil
}

func (p *PerNode) checkRange() error {
	switch {
	case p == nil:
		return nil
	case len(p.Layers) == 0 || slices.Min(p.Layers) < 0:
		return errors.New("per_node has no layers, or negative ones")
	case p.Groups < 0 || p.Distinct < 0 || p.GroupBound < 0:
		return errors.New("per_node: groups, distinct or group_bound is negative")
	}
	return nil
}

func checkOrigin(g *graph.Origin) error {
	switch {
	case g == nil:
		return nil
	case g.Nodes < 1 || g.Edges < 0 || g.DroppedNodes < 0 || g.Nodes > math.MaxInt32 || g.DroppedNodes > math.MaxInt32:
		return fmt.Errorf("graph: %d nodes, %d edges, %d dropped_nodes", g.Nodes, g.Edges, g.DroppedNodes)
	}
	return nil
}

// OfEstimate is the LowerBoundOf of a bound for an estimated Gram matrix.
const OfEstimate = "estimate"

// BoundOf returns what LowerBoundOf has to be.
func (m *Manifest) BoundOf() string {
	if m.LowerBound > 0 && m.Gram.IsEstimate() {
		return OfEstimate
	}
	return ""
}

// IsEstimate reports whether losses and bounds are for an estimate of the Gram matrix.
func (g *Gram) IsEstimate() bool { return g != nil && g.Method != "exact" }

func (g *Gram) checkRange() error {
	switch {
	case g == nil:
		return nil
	case g.Probes < 0 || g.Probes > MaxProbes || g.LanczosSteps < 0 || g.LanczosSteps > MaxLanczosSteps:
		return fmt.Errorf("gram: %d probes of %d lanczos_steps: at most %d and %d are made", g.Probes, g.LanczosSteps,
			MaxProbes, MaxLanczosSteps)
	case g.Method != "exact" && g.Method != "lanczos" && g.Method != "sampled":
		return fmt.Errorf("gram.method %q: must be exact, lanczos or sampled", g.Method)
	case g.Method == "sampled" && (g.Probes < workload.LeastProbes || g.LanczosSteps != 0):
		return fmt.Errorf("gram: %d runs, %d lanczos_steps: at least %d are needed, and none", g.Probes, g.LanczosSteps,
			workload.LeastProbes)
	case g.Method == "lanczos" && (g.Probes < 2 || g.LanczosSteps < 2):
		return fmt.Errorf("gram: %d probes of %d lanczos_steps: at least 2 of both are needed", g.Probes,
			g.LanczosSteps)
	}
	return nil
}

// IsPlain reports whether the workload is the plain one of its kind.
func (m *Manifest) IsPlain() bool { return m.WorkloadSpec.IsPlain() }

// checkSpec rejects invalid specifications, and specifications of another kind than the manifest's.
func (m *Manifest) checkSpec() error {
	s := m.WorkloadSpec
	switch {
	case s == nil:
		return errors.New("workload_spec is missing")
	case s.Kind.String() != m.Workload:
		return fmt.Errorf("workload_spec.kind is %q, workload %q", s.Kind, m.Workload)
	}
	if err := s.Check(m.Steps); err != nil {
		return fmt.Errorf("workload_spec: %s", fault.Keyed(err)) // of a file, not of a flag
	}
	if err := m.Curvature.Check(); err != nil {
		return errors.New(fault.Keyed(err))
	}
	return m.checkFamily()
}

// checkFamily refuses families of nothing, or of other numbers than problems.
func (m *Manifest) checkFamily() error {
	f := m.Family
	if f == nil {
		if m.Curvature.Unknown() {
			return errors.New("family is missing")
		}
		return nil
	}
	problems := len(f.Graphs)
	if m.Curvature.Unknown() {
		problems += len(m.Curvature.X)
	}
	if m.Graph != nil && len(f.Graphs) > 0 || len(f.Ratios) != problems || len(f.Weights) != len(f.Graphs) || problems == 0 ||
		!(f.Bound > 0) || slices.Min(slices.Concat(f.Ratios, f.Weights)) < 0 {
		return errors.New("family is not of the networks, or second derivatives, of the manifest, with a ratio for each")
	}
	for _, o := range f.Graphs {
		if err := checkOrigin(&o); err != nil {
			return err
		}
	}
	return nil
}
