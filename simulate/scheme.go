package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mafalda/accounting"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
)

// Scheme is how the nodes of a Study come by their batches.
type Scheme int

const (
	// InTurn visits equal batches that were cut once. Its levels are μ, against whoever knows who is in which batch.
	InTurn Scheme = iota
	// Poisson draws batches in secret (participation.PoissonSampling) from w groups, with the probability w/b: as many
	// records a step, in expectation, as InTurn. A method has groups for its bands: one for independent noise, so that
	// its probability is 1/b. Its levels are ε.
	Poisson
)

var schemes = [...]string{InTurn: "cyclic", Poisson: "poisson"}

// Schemes returns the names that ParseScheme knows.
func Schemes() []string { return slices.Clone(schemes[:]) }

// String returns the scheme's name.
func (s Scheme) String() string {
	if s < 0 || int(s) >= len(schemes) {
		return fmt.Sprintf("Scheme(%d)", int(s))
	}
	return schemes[s]
}

// ParseScheme is the inverse of String. The error is a fault.Argument of the field Sampling.
func ParseScheme(name string) (Scheme, error) {
	if at := slices.Index(schemes[:], name); at >= 0 {
		return Scheme(at), nil
	}
	return 0, fault.New("Sampling", name, "must be %s", strings.Join(schemes[:], " or "))
}

// Methods are those of MethodNames that the scheme has an accountant for.
func (s Scheme) Methods() []string {
	if s == Poisson {
		return []string{None, baselines.DPDSGD, Mafalda}
	}
	return MethodNames()
}

// checkScheme finds options that batches drawn in secret do not go with.
func (o StudyOptions) checkScheme() error {
	switch {
	case o.Sampling == InTurn && o.Bandwidth != 0:
		return fault.New("Bandwidth", o.Bandwidth, "only where batches are drawn in secret")
	case o.Sampling == InTurn:
		return nil
	case o.Sampling != Poisson:
		return fault.New("Sampling", o.Sampling, "must be %s", strings.Join(schemes[:], " or "))
	case o.Bandwidth < 0:
		return fault.New("Bandwidth", o.Bandwidth, "must be at least 1")
	case len(o.Mus) > 0:
		return fault.New("Mus", o.Mus[0], "does not describe batches drawn in secret: give levels of epsilon")
	case len(o.Epsilons) == 0:
		return fault.New("Epsilons", nil, "is missing: batches drawn in secret have noise for an epsilon and a delta")
	case o.Adjacency != accounting.ZeroOut:
		return fault.New("Adjacency", o.Adjacency, "not accounted for where batches are drawn in secret: only %v is",
			accounting.ZeroOut)
	}
	for _, epsilon := range o.Epsilons {
		if !(epsilon > 0) || math.IsInf(epsilon, 1) {
			return fault.New("Epsilons", epsilon, "must be positive and finite")
		}
	}
	for _, name := range o.Methods {
		if slices.Contains(MethodNames(), name) && !slices.Contains(o.Sampling.Methods(), name) {
			return fault.New("Methods", name, "has more bands than a node has batches, so that its columns meet in every "+
				"group: sampling %v is for %s, and folders of exports with bands", o.Sampling,
				strings.Join(o.Sampling.Methods(), ", "))
		}
	}
	return nil
}
