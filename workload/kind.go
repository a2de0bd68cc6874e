package workload

import "fmt"

// Kind says whose error the Gram matrix measures.
type Kind int

const (
	// Model is (I ⊗ W) W_T: the averaged models, the default.
	Model Kind = iota
	// Message is W_T: the models as they are sent, before averaging.
	Message
	// Prefix is the centralized workload: the T×T lower-triangular matrix of ones, without any network.
	Prefix
)

var kindNames = [...]string{Model: "model", Message: "message", Prefix: "prefix"}

// Kinds lists the names ParseKind accepts.
func Kinds() []string { return kindNames[:] }

// String returns the name used in flags and manifests.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("unknown workload %q: choose model, message or prefix", name)
}
