package dpps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/graph"
)

// readText reads a sequence from a file.
func readText(t testing.TB, text, name string, scheme graph.Scheme) (*Sequence, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadSequence(path, scheme)
}

func TestLoadSequence(t *testing.T) {
	s, err := readText(t, "# two rounds\r\na b\r\nb c\r\nc a\r\n\r\n\r\nb a\r\na c\r\nc b\r\n", "two.txt", graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	if s.Period() != 2 || fmt.Sprint(s.Labels()) != "[a b c]" || s.Weights(0).At(1, 0) != 0.5 || s.Weights(1).At(0,
		1) != 0.5 || s.Weights(0).At(0, 1) != 0 {
		t.Errorf("%d rounds of %v", s.Period(), s.Labels())
	}
	if s, err = readText(t, "a b\n\nb c\n", "m.txt", graph.Metropolis); err != nil ||
		s.Weights(1).At(0, 0) != 1 {
		t.Errorf("Metropolis: %v", err)
	}
	star := "hub a\nhub b\nhub c\nhub d\nhub e\na b\nb c\na c\nd c\n"
	for range 50 { // the weights do not depend on the order of a map
		again, err := readText(t, star, "star.txt", graph.Metropolis)
		if s == nil || s.Nodes() != 6 {
			s = again
		}
		if err != nil || !again.Weights(0).Equal(s.Weights(0)) {
			t.Fatalf("Metropolis weights of the same file: %v, then %v (%v)", s.Weights(0), again.Weights(0), err)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"not doubly stochastic": {"a b\nb c\nc a\na c\n", "round 0"},
		"second round":          {"a b\nb a\n\na b\n", "round 1"},
		"disconnected union":    {"a b\nb a\n\nc d\nd c\n", "reaches every other"},
		"weights":               {"a b 3\nb a 3\n", "have weights"},
		"empty":                 {"# nothing\n", "no nodes"},
		"long line":             {strings.Repeat("x", 1<<17), "s.txt:1"},
	} {
		if _, err := readText(t, c.text, "s.txt", graph.Uniform); !errors.Is(err, ErrNetwork) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
