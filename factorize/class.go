package factorize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/strategy"
)

// A Class is a set of strategies with a search for its best. Its value holds the parameters of the class; those that
// are zero have the defaults of Traits. Values are immutable, and equal (==) if class and parameters are.
type Class interface {
	Name() string   // its strategies' name
	Traits() Traits // the same for all parameters

	// With returns the class with other parameters. The error is ErrUnsupported for parameters that it does not have.
	With(p Parameters) (Class, error)
	Parameters() Parameters // what With was given; zero for defaults

	// Optimize returns the strategy of the class of least loss for the objective under the schema, or the best that
	// was found, with sens² ≤ 1. It fails as Supports and With do, for parameters out of range, for a Gap below MinGap
	// where the search has a certificate, and with ErrGram.
	//
	// When ctx ends first, the best strategy so far is returned with Status optim.Interrupted and a nil error, as it
	// is with the other endings of searches. ManySteps returns no strategy then, but the context's error.
	Optimize(ctx context.Context, o Objective, schema participation.Schema, opts Options) (*Result, error)
}

// Parameters are those that classes may have: a class has the fields that its Traits know. Zero asks for the default of
// the class.
type Parameters struct {
	Bandwidth    int  // bands, coefficients or period w, 1 to T
	Buffers      int  // poles d, 1 to T-1 and to MostBuffers
	ScaleColumns bool // fit a scale for every column
}

// classOf is the class of a kind of strategies, with its parameters.
type classOf[K strategies] Parameters

// strategies is a kind of strategies: what is known of them, and the search for the best with parameters that are not
// zero where they have a default.
type strategies interface {
	traits() Traits
	optimize(ctx context.Context, o Objective, schema participation.Schema, opts Options, p Parameters) (*Result, error)
}

// Name returns the name of the strategies.
func (c classOf[K]) Name() string { return c.Traits().Name }

// Traits returns what is known of the strategies.
func (classOf[K]) Traits() Traits {
	var k K
	return k.traits()
}

// With returns the class with other parameters.
func (c classOf[K]) With(p Parameters) (Class, error) { return classOf[K](p), refuse(c, p) }

// Parameters returns the parameters, zero for defaults.
func (c classOf[K]) Parameters() Parameters { return Parameters(c) }

// Optimize looks for the best strategy: see the kinds. It fails for a bandwidth outside 1..T, and for buffers of which
// T steps have no room, or more than MostBuffers.
func (c classOf[K]) Optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
) (*Result, error) {
	if err := accepts(c, o, schema, opts); err != nil {
		return nil, err
	}
	p, t, steps := Parameters(c), c.Traits(), schema.Steps()
	if t.Bandwidth != nil {
		p.Bandwidth = cmp.Or(p.Bandwidth, t.Bandwidth(schema))
		if p.Bandwidth < 1 || p.Bandwidth > steps {
			return nil, fault.New("Bandwidth", p.Bandwidth, "must be from 1 to T = %d", steps)
		}
	}
	if t.Buffers != 0 {
		most := max(steps, 2) - 1
		p.Buffers = cmp.Or(p.Buffers, min(t.Buffers, most))
		if p.Buffers < 1 || p.Buffers > min(most, MostBuffers) {
			return nil, fault.New("Buffers", p.Buffers, "must be at least 1, less than T = %d and at most %d", steps, MostBuffers)
		}
	}
	var k K
	return k.optimize(ctx, o, schema, opts, p)
}

// Traits is what can be known of a class beforehand.
type Traits struct {
	Name         string                           // name of the strategies
	About        string                           // strategies, what a node keeps, defaults: a line for help texts
	Bandwidth    func(s participation.Schema) int // the default; nil if the class has none
	Buffers      int                              // the default; 0 if the class has none
	ScaleColumns bool                             // columns can have scales
	Kinds        []Kind                           // objectives that it has a search for
	Certified    bool                             // searches prove how close they came, and stop on that

	// refuses is what Supports refuses besides, because of the parameters; nil: nothing.
	refuses func(p Parameters, k Kind, schema participation.Schema) error
}

// Has reports whether the class has a search for such an objective.
func (t Traits) Has(k Kind) bool { return slices.Contains(t.Kinds, k) }

// Classes returns all classes, with their defaults, in the order of strategy.Classes.
func Classes() []Class {
	return []Class{Dense{}, Banded{}, Toeplitz{}, BLT{}, BandedInverse{}, Comb{}}
}

// ClassOf returns the class of this name, with its defaults.
func ClassOf(name string) (Class, error) {
	names := lists.Map(Classes(), Class.Name)
	if i := slices.Index(names, name); i >= 0 {
		return Classes()[i], nil
	}
	return nil, fmt.Errorf("unknown strategy %q: choose %s", name, strings.Join(names, ", "))
}

// NamesWith returns the names of the classes with such traits, as a sentence has them.
func NamesWith(has func(Traits) bool) string {
	all := slices.DeleteFunc(Classes(), func(c Class) bool { return !has(c.Traits()) })
	return strings.Join(lists.Map(all, Class.Name), " or ")
}

// DefaultClass returns the class to take if none is asked for: under min-sep, where the optimum is not known,
// strategies of few bands, whose sensitivity is.
func DefaultClass(s participation.Schema) Class {
	if minSep(s) {
		return Banded{}
	}
	return Dense{}
}

func minSep(s participation.Schema) bool {
	_, ok := s.(participation.MinSep)
	return ok
}

// Supports says, before anything is computed, whether a class has a search for such an objective under the schema: nil,
// or ErrUnsupported with the reason.
func Supports(c Class, k Kind, schema participation.Schema) error {
	t := c.Traits()
	if t.refuses != nil {
		if err := t.refuses(c.Parameters(), k, schema); err != nil {
			return err
		}
	}
	switch {
	case !t.Has(k):
		return fmt.Errorf("the objective %v for %s strategies: %w", k, c.Name(), ErrUnsupported)
	case (k == WorstStep || k == LastStep) && !participation.IsPartition(schema):
		return fmt.Errorf("the objective %v: %w under %s participation, whose patterns overlap", k, ErrUnsupported,
			schema.Name())
	}
	if _, cyclic := schema.(participation.Cyclic); k == ManySteps && !cyclic {
		return fmt.Errorf("more than %d steps under %s participation: %w", strategy.LongSteps, schema.Name(), ErrUnsupported)
	}
	return nil
}

// accepts refuses parameters that the class does not have, objectives that it does not support or that do not fit the
// schema, and options that nothing allows.
func accepts(c Class, o Objective, schema participation.Schema, opts Options) error {
	return cmp.Or(refuse(c, c.Parameters()), Supports(c, o.kind, schema), fault.Ranges(opts), o.check(schema))
}

// refuse returns the error of With if p has parameters that the class does not.
func refuse(c Class, p Parameters) error {
	for _, one := range []struct {
		given bool
		what  string
		has   func(Traits) bool
	}{
		{p.Bandwidth != 0, "a bandwidth", func(t Traits) bool { return t.Bandwidth != nil }},
		{p.Buffers != 0, "buffers", func(t Traits) bool { return t.Buffers != 0 }},
		{p.ScaleColumns, "column scaling", func(t Traits) bool { return t.ScaleColumns }},
	} {
		if one.given && !one.has(c.Traits()) {
			return fmt.Errorf("%s of %s strategies: %w, only of %s", one.what, c.Name(), ErrUnsupported, NamesWith(one.has))
		}
	}
	return nil
}
