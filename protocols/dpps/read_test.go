package dpps

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadSequence(t *testing.T) {
	s, err := ReadSequence(strings.NewReader("# two rounds\r\na b\r\nb c\r\nc a\r\n\r\n\r\nb a\r\na c\r\nc b\r\n"),
		"two.txt", OutDegree)
	if err != nil {
		t.Fatal(err)
	}
	if s.Period() != 2 || fmt.Sprint(s.Labels()) != "[a b c]" || s.Weights(0).At(1, 0) != 0.5 || s.Weights(1).At(0,
		1) != 0.5 || s.Weights(0).At(0, 1) != 0 {
		t.Errorf("%d rounds of %v", s.Period(), s.Labels())
	}
	if s, err = ReadSequence(strings.NewReader("a b\n\nb c\n"), "m.txt", MetropolisWeights); err != nil ||
		s.Weights(1).At(0, 0) != 1 {
		t.Errorf("Metropolis: %v", err)
	}
	star := "hub a\nhub b\nhub c\nhub d\nhub e\na b\nb c\na c\nd c\n"
	for range 50 { // the weights do not depend on the order of a map
		again, err := ReadSequence(strings.NewReader(star), "star.txt", MetropolisWeights)
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
		"weights":               {"a b 3\n", "s.txt:1"},
		"empty":                 {"# nothing\n", "no edges"},
		"long line":             {strings.Repeat("x", 1<<17), "s.txt:1"},
	} {
		if _, err := ReadSequence(strings.NewReader(c.text), "s.txt", OutDegree); !errors.Is(err, ErrNetwork) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
