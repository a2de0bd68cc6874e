package enum

import (
	"errors"
	"testing"

	"mafalda/internal/fault"
)

type colour int

// Every value is found by its name, and nothing else is.
func TestNames(t *testing.T) {
	names := Of[colour]("colour", "red", "green", "blue")
	for at, name := range names.All() {
		if got, err := names.Parse(name); err != nil || got != colour(at) || names.Name(got) != name || !names.Known(got) {
			t.Errorf("Parse(%q) = %v, %v", name, got, err)
		}
	}
	for _, unknown := range []string{"", "Red", "yellow"} {
		if _, err := names.Parse(unknown); err == nil {
			t.Errorf("%q is a colour", unknown)
		}
	}
	_, err := names.Parse("x")
	if want := `unknown colour "x": choose red, green or blue`; err == nil || err.Error() != want {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	var argument *fault.Argument
	if _, err := names.ParseField("Paint", "x"); !errors.As(err, &argument) || argument.Field != "Paint" {
		t.Errorf("ParseField = %v", err)
	}
	if names.Known(-1) || names.Known(3) || names.Name(3) != "colour(3)" || names.Name(-1) != "colour(-1)" {
		t.Errorf("values without a name: %s, %s", names.Name(3), names.Name(-1))
	}
	names.All()[0] = "changed"
	if names.Name(0) != "red" {
		t.Error("the list is not the caller's own")
	}
	if got := List([]string{"red"}) + List(nil); got != "red" {
		t.Errorf("lists of one and none: %q", got)
	}
}
