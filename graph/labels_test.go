package graph

import (
	"slices"
	"testing"
)

func TestLabelOrder(t *testing.T) {
	for name, tc := range map[string]struct{ labels, want []string }{
		"integers":           {[]string{"10", "9", "-1", "+2"}, []string{"-1", "+2", "9", "10"}},
		"beyond 64 bits":     {[]string{"18446744073709551616", "9", "-18446744073709551616"}, []string{"-18446744073709551616", "9", "18446744073709551616"}},
		"one value two ways": {[]string{"7", "-0", "007", "0"}, []string{"-0", "0", "007", "7"}},
		"a name among them":  {[]string{"9", "x", "10"}, []string{"10", "9", "x"}},
		"a sign alone":       {[]string{"9", "-", "10"}, []string{"-", "10", "9"}},
		"not whole":          {[]string{"9", "1.5", "10"}, []string{"1.5", "10", "9"}},
		"letters":            {[]string{"ä", "b", "B"}, []string{"B", "b", "ä"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, i := range labelOrder(tc.labels) {
				got = append(got, tc.labels[i])
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
