package export

import (
	"cmp"
	"errors"
	"fmt"

	"mafalda/internal/fault"
	"mafalda/strategy"
	"mafalda/workload"
)

// What an estimate of the Gram matrix can be made of.
const (
	MaxProbes       = 1 << 20
	MaxLanczosSteps = 1 << 16
)

// checkRange rejects manifests that nothing could be made of, so that no reader has to fear them: keys out of their ranges
// (Keys), and keys that contradict each other.
func (m *Manifest) checkRange() error {
	if err := m.checkRanges(""); err != nil {
		return err
	}
	people, several := m.Participation.Batches > 0, m.Participation.Batches > 1
	switch {
	case people != (m.Participation.Schema == "people"):
		return fmt.Errorf("person_batches is %d: belongs to the schema people", m.Participation.Batches)
	case m.Participation.Schema == "silo" && (m.Participation.K != m.Steps || m.Participation.B != 1):
		return fmt.Errorf("a silo is in every step: k is %d, b %d", m.Participation.K, m.Participation.B)
	case m.OneBatchLoss != 0 && !several:
		return errors.New("one_batch_loss is for people in several batches")
	case m.LowerBound == 0 && m.Space == nil && m.Steps <= strategy.LongSteps:
		return errors.New("lower_bound is missing")
	case m.LowerBoundOf != m.BoundOf():
		return fmt.Errorf("lower_bound_of is %q: must be %s, of a lower_bound for a gram that is estimated, or else absent",
			m.LowerBoundOf, OfEstimate)
	case len(m.Weights) > m.Steps:
		return fmt.Errorf("%d objective_weights for %d steps", len(m.Weights), m.Steps)
	case len(m.Files) == 0 && (m.Strategy.Class == "dense" || m.Graph != nil):
		return errors.New("it lists no files")
	case m.PerNode != nil && len(m.PerNode.Layers) == 0:
		return errors.New("per_node has no layers")
	}
	for name := range m.Files {
		if err := checkName(name); err != nil {
			return err
		}
	}
	for _, x := range m.Strategy.Counts() {
		if x.Number > m.Steps {
			return fmt.Errorf("strategy.%s: %d of them, for %d steps", x.Key, x.Number, m.Steps)
		}
	}
	return cmp.Or(m.checkSpace(), m.checkSpec(), m.Sampling.checkRange(m.Steps), m.Privacy.checkRange(m.Sampled()),
		m.checkLevelRange(), m.Gram.checkRange())
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
	if m.Graph != nil && len(f.Graphs) > 0 || len(f.Ratios) != problems || len(f.Weights) != len(f.Graphs) || problems == 0 {
		return errors.New("family is not of the networks, or second derivatives, of the manifest, with a ratio for each")
	}
	return nil
}
