package commands

import (
	"os"
	"testing"
)

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
