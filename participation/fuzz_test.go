package participation

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// Patterns that are read hold every step, and are read again from what they print as.
func FuzzReadPatterns(f *testing.F) {
	for _, text := range []string{"0 1\n2 3\n", "0,2 # even\n\n1;3\r\n", "0 1 2 3\n0 2\n", "0 0\n", "9\n",
		"+1 2\x1b[1m\n", "0\t1\n2\n3"} {
		f.Add(text, 4)
	}
	f.Fuzz(func(t *testing.T, text string, steps int) {
		if steps > 1000 {
			return
		}
		l, err := ReadPatterns(strings.NewReader(text), steps)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unicode.IsControl) || !errors.Is(err, ErrSchema) && len(text) < 1<<20 {
				t.Fatalf("%q: error %q", text, err)
			}
			return
		}
		var written strings.Builder
		for _, p := range l.Patterns() {
			fmt.Fprintln(&written, strings.Trim(fmt.Sprint(p), "[]"))
		}
		back, err := ReadPatterns(strings.NewReader(written.String()), steps)
		if err != nil || !reflect.DeepEqual(back, l) {
			t.Fatalf("%q came back from %q as %v, %v", text, written.String(), back, err)
		}
		if l.Participations() < 1 || l.Separation() < 1 || l.Separation() > steps {
			t.Fatalf("%q: k = %d, b = %d", text, l.Participations(), l.Separation())
		}
	})
}
