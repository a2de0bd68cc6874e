package participation

import (
	"fmt"
	"slices"

	"mafalda/internal/fault"
)

// Sampling says how a node draws its batches. It is public, as are the numbers of steps and, for dividing, of records;
// what is drawn is not. Implementations are plain data.
type Sampling interface {
	Name() string   // the word for it in flags and files
	String() string // a line for people

	// Sampler returns what draws the batches. The errors are a fault.Argument that names a field of the sampling or of
	// the options.
	Sampler(o SamplerOptions) (Sampler, error)
}

// Secret is a Sampling that amplifies privacy: what it draws is a secret. What a record does is independent of all others.
type Secret interface {
	Sampling

	// Known returns what attackers may know all the same: the number of groups that steps draw from in turn, and what draws
	// from a group as from all records.
	Known() (groups int, rest Secret)

	// Choices returns what is drawn for a record of the only group in this number of steps, independently of each other.
	Choices(steps int) []Choice
}

// Choice is of one of several sets of steps in which a record takes part, all equally likely, or of none.
type Choice struct {
	Probability float64 // chance of any of the sets
	Sets        [][]int
}

// SamplerOptions says who is drawn from, how often, and with which secret.
type SamplerOptions struct {
	Records int `in:"[0,)"` // number of the node's records, which count from 0
	Steps   int `in:"[1,)"` // T
	Key     Key // see NewKey; SeededKey in simulations
}

// A Sampler says which of a node's records take part in which step. Everything is a function of the key, the step and
// the record: a batch is the same whenever it is asked for, before and after a restart, in any order, and no state is to
// be kept but the key. Implementations are immutable and safe for several goroutines.
type Sampler interface {
	Sampling() Sampling
	Records() int

	// Schema holds what a record can do, whatever is drawn. Its steps are the sampler's.
	Schema() Schema

	// Expected returns the size of a batch in expectation, or on average over the steps. Sums are divided by it, never
	// by the size of what was drawn, which is as secret as the draw. It counts the records: where even their number
	// must not be known, divide by a public estimate.
	Expected() float64

	// Batch returns the numbers of the records that take part in a step, ascending, in a slice of the caller's own; it
	// may be empty. It panics for a step outside 0..T-1.
	Batch(step int) []int
}

// The names of samplings.
const (
	nameCyclic     = "cyclic"
	namePoisson    = "poisson"
	nameBins       = "bins"
	nameAllocation = "allocation"
	nameTruncated  = "truncated"
	nameMinSep     = "min-sep"
)

// CheckSampler draws all batches and finds those that break the sampler's contract: records that are not ascending
// numbers of the node's, and what the Schema does not allow. The error wraps ErrViolated.
func CheckSampler(s Sampler) error {
	l := NewLedger(s.Records(), s.Schema())
	for step := range s.Schema().Steps() {
		last := -1
		for _, record := range s.Batch(step) {
			if record <= last || record >= s.Records() {
				return fmt.Errorf("%w: record %d after %d of %d in step %d", ErrViolated, record, last, s.Records(), step)
			}
			if err := l.Admit(record, step); err != nil {
				return err
			}
			last = record
		}
	}
	return nil
}

// check refuses options without records, steps or, where it is needed, a key.
func (o SamplerOptions) check(secret bool) error {
	if secret && o.Key.secret == nil {
		return fault.New("Key", nil, "is missing: what is drawn without a secret is known to everybody")
	}
	return fault.Ranges(o)
}

// checkTurns refuses numbers of batches, groups or bins that T steps cannot visit in turn.
func (o SamplerOptions) checkTurns(field string, turns int) error {
	if turns < 1 || turns > o.Steps {
		return fault.New(field, turns, "must be from 1 to T = %d", o.Steps)
	}
	return nil
}

// checkProbability refuses what is no probability, and what no draw of 64 bits comes up with.
func checkProbability(q float64) error {
	if err := fault.CheckRange("Probability", q, "(0,1]"); err != nil {
		return err
	}
	if c := newCoin(q); !c.always && c.threshold == 0 {
		return fault.New("Probability", q, "is below 2⁻⁶⁴: nothing would ever be drawn")
	}
	return nil
}

// everyTurn is the schema of records that take part in steps of one residue modulo turns, up to all of them.
func everyTurn(steps, turns int) Schema {
	s, err := NewCyclic(steps, (steps-1)/turns+1, turns)
	if err != nil {
		panic("participation: turns that were checked: " + err.Error())
	}
	return s
}

// drawing is the Sampler of a Sampling.
type drawing struct {
	sampling Sampling
	schema   Schema
	records  int
	expected float64
	batch    func(step int) []int // batch of a step that is one of T
}

func (s *drawing) Sampling() Sampling { return s.sampling }
func (s *drawing) Records() int       { return s.records }
func (s *drawing) Schema() Schema     { return s.schema }
func (s *drawing) Expected() float64  { return s.expected }

func (s *drawing) Batch(step int) []int {
	if step < 0 || step >= s.schema.Steps() {
		panic(fmt.Sprintf("participation: step %d of %d", step, s.schema.Steps()))
	}
	return s.batch(step)
}

// newInTurn returns the sampler of batches that are visited in turn and never change: record i is in batch of[i].
func newInTurn(s Sampling, steps, batches int, of []int) Sampler {
	all := make([][]int, batches)
	for record, batch := range of {
		all[batch] = append(all[batch], record)
	}
	return &drawing{s, everyTurn(steps, batches), len(of), float64(len(of)) / float64(batches),
		func(step int) []int { return slices.Clone(all[step%batches]) }}
}
