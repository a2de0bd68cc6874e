package participation

import "mafalda/internal/enum"

// Scheme is how nodes come by the batches of their steps, as strategies are optimized and models trained for it. The
// zero value is InTurn.
type Scheme int

const (
	// InTurn visits batches in turn that were made once (CyclicSampling), or takes whatever else a Schema allows.
	// Attackers may know in which steps a record takes part.
	InTurn Scheme = iota
	// Poisson draws batches in secret (PoissonSampling): a node puts every record once, independently of all others,
	// into one of w groups; step t draws from group t mod w, every record independently with probability w/b. So on
	// average a batch has one in b records, as it has under the cyclic schema of k and b.
	//
	// A record is then in no two steps whose columns of a C of w bands have a row in common, and its group's steps are
	// as private as the same number of rounds of the Poisson-subsampled Gaussian mechanism with columns of norm one
	// (Choquette-Choo et al. 2023, "(Amplified) Banded Matrix Factorization"), which package pld composes.
	Poisson
	// Bins visits b batches in turn into which a node has put every record once, in secret, independently of all others
	// and uniformly (BinsSampling): batches of random size. A permutation of the records that is cut into equal batches
	// is another scheme. Strategies have no negative entries (bins.Mechanism).
	Bins
	// Allocation draws batches in secret in which every record takes part exactly k times (AllocationSampling): a node
	// puts every record once into one of w groups, and cuts the steps of a group, t mod w, into k blocks; in each the
	// record takes part in one step at random. Strategies have at most w bands, as for Poisson.
	Allocation
	// Truncated draws batches as Poisson does, of a largest size (TruncatedSampling): what exceeds it is dropped. How
	// likely that is with a record in it is added to δ.
	Truncated
)

var schemes = enum.Of[Scheme]("sampling", nameCyclic, namePoisson, nameBins, nameAllocation, nameTruncated)

// Schemes returns the names that ParseScheme knows.
func Schemes() []string { return schemes.All() }

// String returns the name of the scheme's Sampling: "cyclic", "poisson", "bins", "allocation" or
// "truncated".
func (s Scheme) String() string { return schemes.Name(s) }

// Known reports whether s is one of the schemes.
func (s Scheme) Known() bool { return schemes.Known(s) }

// ParseScheme is the inverse of String. The error is a fault.Argument about Sampling.
func ParseScheme(name string) (Scheme, error) { return schemes.ParseField("Sampling", name) }
