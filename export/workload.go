package export

import (
	"errors"
	"fmt"

	"mafalda/internal/fault"
	"mafalda/workload"
)

// ErrTrained is about exports whose strategy is for a workload other than the plain one, where that matters.
var ErrTrained = errors.New("the strategy is for training with more than plain gradient descent on a network that stays")

// Spec returns the workload, of manifests that ReadManifest returned: without the matrices of networks that take turns.
// The error is an unknown kind.
func (m *Manifest) Spec() (workload.Spec, error) {
	if m.WorkloadSpec != nil {
		return *m.WorkloadSpec, nil
	}
	kind, err := workload.ParseKind(m.Workload)
	return workload.Spec{Kind: kind}, err
}

// IsPlain reports whether the workload is the plain one of its kind.
func (m *Manifest) IsPlain() bool { return m.WorkloadSpec == nil || m.WorkloadSpec.IsPlain() }

// checkSpec rejects invalid specifications, and specifications of another kind than the manifest's.
func (m *Manifest) checkSpec() error {
	s := m.WorkloadSpec
	switch {
	case s == nil && m.PlainStrategyLoss != 0:
		return errors.New("plain_strategy_loss without a workload_spec")
	case s == nil:
		return nil
	case s.Kind.String() != m.Workload:
		return fmt.Errorf("workload_spec.kind is %q, workload %q", s.Kind, m.Workload)
	}
	if err := s.Check(m.Steps); err != nil {
		return fmt.Errorf("workload_spec: %s", fault.Keyed(err)) // of a file, not of a flag
	}
	return nil
}
