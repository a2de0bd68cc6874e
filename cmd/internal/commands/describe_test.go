package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"mafalda/cmd/internal/grids"
)

// No page names a flag by the name that it had before.
func TestPagesNameFlagsOfToday(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatal(err, pages)
	}
	_, described, _ := mafalda("describe")
	renamed := map[string]bool{}
	see := func(f *pflag.Flag) {
		for _, was := range f.Annotations["was"] {
			old, _, _ := strings.Cut(was, " ")
			renamed[old] = true
		}
	}
	for _, cmd := range newRootCmd(new(grids.Runner)).Commands() {
		cmd.Flags().VisitAll(see)
	}
	if len(renamed) < 80 {
		t.Fatal(renamed)
	}
	named := map[string]string{} // a page by a flag
	flag := regexp.MustCompile(`(?:^|[^-\w])--([-\w]+)`)
	for _, page := range append(pages, "../../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range flag.FindAllSubmatch(text, -1) {
			named[string(name[1])] = page
		}
	}
	for old := range renamed {
		if page := named[old]; page != "" && !strings.Contains(described, "\n        \"name\": \""+old+"\"") { // of another command
			t.Errorf("%s names --%s", page, old)
		}
	}
}

// A line that an earlier version has written into a folder is read with the names of today.
func TestRecordedLinesOfEarlierVersions(t *testing.T) {
	words := strings.Fields("account --graph=g.edges --directed=true --momentum=0.9 --nesterov=true --carry=false --T=4")
	got, err := grids.CheckRecorded(newRootCmd(new(grids.Runner)), words)
	if want := "account --graph=directed:g.edges --optimizer=momentum:0.9 --optimizer=nesterov --missed-steps=carry=false --T=4"; err != nil ||
		strings.Join(got, " ") != want {
		t.Errorf("%v, %v", got, err)
	}
}

// The Python package calls commands with the flags that they have: its description is the program's.
func TestDescriptionOfThePythonPackage(t *testing.T) {
	code, described, errs := mafalda("describe")
	if code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	kept, err := os.ReadFile("../../../python/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != described {
		t.Error("python/commands.json describes other commands or flags than the program has: make python")
	}
}
