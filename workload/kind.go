package workload

import "mafalda/internal/enum"

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

var kinds = enum.Of[Kind]("workload", "model", "message", "prefix")

// Kinds lists the names ParseKind accepts.
func Kinds() []string { return kinds.All() }

// String returns the name used in flags and manifests.
func (k Kind) String() string { return kinds.Name(k) }

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, error) { return kinds.Parse(name) }
