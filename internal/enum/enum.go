// Package enum gives the values of an integer type their names, in one place, and finds a value by its name.
package enum

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mafalda/internal/fault"
)

// Names are the names of the values 0, 1, … of E. The zero value names nothing; use Of.
type Names[E ~int] struct {
	what  string // "gossip scheme": what a value is, for errors
	names []string
}

// Of returns the names of the values 0, 1, … of E, in this order. what says in an error what a value is.
func Of[E ~int](what string, names ...string) Names[E] { return Names[E]{what, names} }

// All lists the names, in the order of the values. The caller owns the list.
func (n Names[E]) All() []string { return slices.Clone(n.names) }

// Known reports whether e has a name.
func (n Names[E]) Known(e E) bool { return e >= 0 && int(e) < len(n.names) }

// Name returns the name of e, or, if it has none, a text such as "Scheme(7)".
func (n Names[E]) Name(e E) string {
	if !n.Known(e) {
		return fmt.Sprintf("%s(%d)", reflect.TypeFor[E]().Name(), int(e))
	}
	return n.names[e]
}

// Parse returns the value with this name. The error lists the names.
func (n Names[E]) Parse(name string) (E, error) {
	if at := slices.Index(n.names, name); at >= 0 {
		return E(at), nil
	}
	return 0, fmt.Errorf("unknown %s %q: choose %s", n.what, name, List(n.names))
}

// ParseField is Parse for a field of an options struct. The error is a fault.Argument about the field.
func (n Names[E]) ParseField(field, name string) (E, error) {
	if at := slices.Index(n.names, name); at >= 0 {
		return E(at), nil
	}
	return 0, fault.New(field, fmt.Sprintf("%q", name), "must be %s", List(n.names))
}

// List returns "a, b or c".
func List(names []string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
