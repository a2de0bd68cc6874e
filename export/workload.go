package export

import (
	"errors"
	"fmt"

	"mafalda/internal/fault"
)

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
	return nil
}
