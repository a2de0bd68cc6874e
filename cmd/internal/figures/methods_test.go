package figures

import (
	"slices"
	"testing"
)

// A method has the same colour wherever it is drawn, and no other curve of the picture has it as long as there are
// more.
func TestColoursOfMethods(t *testing.T) {
	for name, tc := range map[string]struct {
		curves []Curve
		want   []int
	}{
		"no methods":   {make([]Curve, 9), []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		"known":        {[]Curve{{Method: "none"}, {Method: "dp-d-sgd"}, {Method: "mafalda"}}, []int{6, 2, 0}},
		"others":       {[]Curve{{Method: "out"}, {Method: "mafalda"}, {Method: "d-mf"}, {}}, []int{2, 0, 1, 3}},
		"not drawn":    {[]Curve{{Method: "mafalda"}, {Method: "out", X: []float64{1}}}, []int{0, 1}},
		"more than 8":  {append(make([]Curve, 8), Curve{Method: "d-mf"}), []int{0, 2, 3, 4, 5, 6, 7, 8, 1}},
		"none at all":  {nil, []int{}},
		"alike":        {[]Curve{{Name: "a"}, {Name: "b", Like: "a"}, {Name: "c"}}, []int{0, 0, 1}},
		"like nobody":  {[]Curve{{Name: "a"}, {Name: "b", Like: "c"}}, []int{0, 1}},
		"the same two": {[]Curve{{Method: "d-mf"}, {Method: "d-mf"}}, []int{1, 1}},
	} {
		if got := coloursOf(tc.curves); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
