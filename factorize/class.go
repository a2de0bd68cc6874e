package factorize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// Traits is what can be known of a class beforehand.
type Traits struct {
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

// registered are the classes by their names; each registers itself in its file.
var registered = map[string]Class{}

func register(c Class) Class {
	registered[c.Name()] = c
	return c
}

// Classes returns all classes, with their defaults, in the order of strategy.Classes.
func Classes() []Class {
	all := lists.Map(strategy.Classes(), func(name string) Class { return registered[name] })
	return slices.DeleteFunc(all, func(c Class) bool { return c == nil })
}

// ClassOf returns the class of this name, with its defaults.
func ClassOf(name string) (Class, error) {
	if c := registered[name]; c != nil {
		return c, nil
	}
	names := lists.Map(Classes(), Class.Name)
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
	return cmp.Or(refuse(c, c.Parameters()), Supports(c, o.kind, schema), opts.check(), o.check(schema))
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
