package commands

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The everyday life of every command: a script of testdata/script each, to read and to copy. A script has lines as a user
// types them, what they print (stdout and stderr match a regular expression), and files behind the line "-- name --".
// Besides the words of package testscript there are
//
//	exits CODE mafalda ...   the command fails, with this exit code; for 2 its last words are one line on stderr, beside warnings
//	join TO FILE ...         files, one behind the other, as a file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: false,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "join": join}})
}

// exits runs a command that must end with an exit code; if that is 2, with one line that refuses, and nothing on stdout.
func exits(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); !errors.As(err, &ended) || ended.ExitCode() != want {
		ts.Fatalf("%v: %v, not exit code %d\n%s%s", args[1:], err, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
	_, refusal, refused := strings.Cut("\n"+ts.ReadFile("stderr"), "\nmafalda: ") // behind warnings
	if out := ts.ReadFile("stdout"); want == 2 && (out != "" || !refused || strings.Count(refusal, "\n") != 1) {
		ts.Fatalf("%v: not one line that refuses\n%s%s", args[1:], out, ts.ReadFile("stderr"))
	}
}

// join writes files, one behind the other, as a file.
func join(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 2 {
		ts.Fatalf("usage: join TO FILE ...")
	}
	var all string
	for _, name := range args[1:] {
		all += ts.ReadFile(name)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(all), 0o666))
}
