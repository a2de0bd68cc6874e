//go:build unix

package text

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// odd is what somebody may have called a file, and what a shell would do something with.
var odd = []string{"", " ", "a b", "it's", `"`, `'`, "''", `\`, `\'`, "$HOME", "$(id)", "`id`", "*", "?", "~", "~root", "#", "a#b", "a=b",
	"--mu=1,2", "--labels=a b,\"c\"", "new\nline", "tab\t", "é", "&", "|", ";", ">", "<", "!", "{a,b}", "[a]", "-n", "%A", "\xff"}

// read returns the words that a shell reads in a line.
func read(t interface{ Fatal(...any) }, line string) []string {
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(line, err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}

func TestQuote(t *testing.T) {
	if got := read(t, Line(odd...)); !slices.Equal(got, odd) {
		t.Errorf("%q\n%q", got, odd)
	}
	if got := Line("mafalda", "account", "--graph=ego.edges", "-o", "who", "a,b"); strings.Contains(got, "'") &&
		!strings.Contains(got, "'--") {
		t.Errorf("plain words are quoted: %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 12), 1, 40).Draw(t, "words")
		var words []string
		for _, b := range bytes {
			words = append(words, string(b))
		}
		if got := read(t, Line(words...)); !slices.Equal(got, words) {
			t.Fatalf("%q\n%q", got, words)
		}
	})
}

// The first word of a line is a program, even if it looks like something else.
func TestQuotePrograms(t *testing.T) {
	for word, want := range map[string]string{"a=b": "'a=b'", "/bin/x=1/mafalda": "'/bin/x=1/mafalda'", "mafalda": "mafalda",
		"--output=who": "--output=who", "~/mafalda": "'~/mafalda'"} {
		if got := Quote(word); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}
