package sampling

import (
	"fmt"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/participation"
)

// A Draw is what a record goes through where batches are drawn in secret, with its accountant. Noise multipliers are over
// the largest norm of a column. Values are comparable: equal ones give the same numbers.
type Draw interface {
	Epsilon(delta, noiseMultiplier float64) (float64, error) // an upper bound of the least ε
	Delta(epsilon, noiseMultiplier float64) (float64, error) // an upper bound of the least δ
	NoiseMultiplier(epsilon, delta float64) (float64, error) // one with which the draw is (ε, δ)-DP
}

// BoundsOf returns a draw's upper bound of the least ε, a lower one, or 0, and how likely a record is at most to be drawn for
// a step that drops records, which is a part of δ.
func BoundsOf(d Draw, delta, noiseMultiplier float64) (b pld.EpsilonBounds, overflow float64, err error) {
	if p, is := d.(Poisson); is {
		b, err = p.Bounds(delta, noiseMultiplier)
		return b, p.Overflow(), err
	}
	b.Upper, err = d.Epsilon(delta, noiseMultiplier)
	return b, 0, err
}

// Traits say what a Kind is like.
type Traits struct {
	About       string   // a line of help
	Parameters  []string // names that flags have for the numbers of one mechanism
	Banded      bool     // strategies have at most as many bands as there are groups; there is a Draw
	Independent bool     // records are drawn independently in every round: what is proved of Poisson sampling holds
	Largest     bool     // batches have a largest size
}

// Kind is a way to draw batches in secret: everything that other rooms ask of it. Its Sampler is in package participation.
type Kind interface {
	Traits() Traits
	// Check rejects schemas in the place of which batches cannot be drawn so. The errors are a fault.Argument.
	Check(schema participation.Schema) error
	// Numbers returns with which numbers a scheme of this kind draws from this number of groups in the place of a schema's batches:
	// as many records a batch, on average.
	Numbers(s Scheme, schema participation.Schema, groups int) Numbers
	// Draw returns what a record of the worst group goes through.
	Draw(n Numbers) (Draw, error)
	// Begun returns what records go through before step t, one Draw for every group that can count.
	Begun(n Numbers, t int) ([]Draw, error)
	// Sampling returns what draws, and Read is its inverse, false for other samplings.
	Sampling(n Numbers) participation.Sampling
	Read(s participation.Sampling, steps int) (Numbers, bool)
	// Condition says how a node draws: the end of a sentence, after "private only with batches drawn in secret".
	Condition(n Numbers) string
}

// kinds is the one table of all of them. Batches in turn, where secret ones are compared with them, are in the place of
// Poisson sampling.
var kinds = map[participation.Scheme]Kind{
	participation.InTurn:     poisson{},
	participation.Poisson:    poisson{},
	participation.Bins:       inBins{},
	participation.Allocation: allocated{},
	participation.Truncated:  truncated{},
}

// Of returns the kind of a scheme that is Known.
func Of(s participation.Scheme) Kind {
	if k, known := kinds[s]; known {
		return k
	}
	return poisson{} // until it is refused
}

// Where returns the schemes whose batches are drawn in secret, and whose traits are as they should be, in their order.
func Where(wanted func(Traits) bool) []participation.Scheme {
	var all []participation.Scheme
	for s := participation.InTurn + 1; s.Known(); s++ {
		if wanted(Of(s).Traits()) {
			all = append(all, s)
		}
	}
	return all
}

// Names returns the names of the schemes Where the traits are as they should be.
func Names(wanted func(Traits) bool) []string {
	return lists.Map(Where(wanted), participation.Scheme.String)
}

// Scheme says how batches are drawn in the place of batches in turn. The zero value is Poisson sampling.
type Scheme struct {
	Of        participation.Scheme
	Adjacency accounting.Adjacency // accounting.ZeroOut alone, unless draws are Independent
	Batches   Batches              // the largest ones
}

// Numbers say how a node draws its batches; they are public.
type Numbers struct {
	Scheme
	Steps       int
	Groups      int // number of groups that records are put into, and steps draw from in turn
	Rounds      int // number of rounds in which a record of the largest group can take part
	Probability float64
}

// For returns the numbers with which the scheme draws from this number of groups in the place of a schema's batches.
func (s Scheme) For(schema participation.Schema, groups int) Numbers {
	return s.Kind().Numbers(s, schema, groups)
}

// Draw returns what a record of the worst group goes through, with this number of groups in the place of a schema's batches.
func (s Scheme) Draw(schema participation.Schema, groups int) (Draw, error) {
	return s.For(schema, groups).Draw()
}

// NumbersOf returns the numbers with which a sampling draws in this number of steps, for neighbours of this kind; false if it has
// no accountant.
func NumbersOf(s participation.Sampling, steps int, a accounting.Adjacency) (n Numbers, known bool) {
	of, err := participation.ParseScheme(s.Name())
	if err == nil && of != participation.InTurn {
		n, known = Of(of).Read(s, steps)
		n.Of, n.Steps, n.Adjacency = of, steps, a
	}
	return n, known
}

// Kind returns what is known of the scheme.
func (s Scheme) Kind() Kind { return Of(s.Of) }

// Draw returns what a record of the worst group goes through. The errors are a fault.Argument.
func (n Numbers) Draw() (Draw, error) { return n.Kind().Draw(n) }

// Sampling returns what draws.
func (n Numbers) Sampling() participation.Sampling { return n.Kind().Sampling(n) }

// CheckAdjacency rejects neighbours that the scheme has no accountant for.
func (s Scheme) CheckAdjacency() error {
	if s.Adjacency == accounting.ZeroOut || s.Kind().Traits().Independent {
		return nil
	}
	return fault.New("Adjacency", nil, "[Adjacency] %v is not for [Sampling] %v, whose privacy is accounted for under %v only: choose poisson "+
		"or truncated", s.Adjacency, s.Of, accounting.ZeroOut)
}

// inGroups returns the beginning of a condition, and of which steps it is.
func (n Numbers) inGroups() string {
	if n.Groups == 1 {
		return ""
	}
	return fmt.Sprintf("every record is once put into one of %d groups at random; ", n.Groups)
}
