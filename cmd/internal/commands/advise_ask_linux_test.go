package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// runAtTerminal runs a command line at a pseudoterminal on which typed is typed, and returns what stands on it in the end.
func runAtTerminal(t *testing.T, ctx context.Context, typed string, args ...string) (code int, screen string) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("a pseudoterminal: %v", err)
	}
	defer user.Close()
	fd := int(user.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = program
	defer func() { os.Stdin = stdin }()
	var shown bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(&shown, user) // until the program's end is closed
	}()
	if _, err := io.WriteString(user, typed); err != nil {
		t.Fatal(err)
	}
	code = run(ctx, args, program, program)
	if _, err := io.WriteString(user, "\n"); err != nil { // for a question that was left behind, which keeps the file open
		t.Fatal(err)
	}
	program.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the terminal is still open")
	}
	return code, strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// At a terminal advise asks for what is missing, and for nothing with --json; the end of the input and Ctrl-C end it.
func TestAdviseAtATerminal(t *testing.T) {
	args := strings.Fields("advise --T 8 --trust ldp --sampling cyclic")
	code, screen := runAtTerminal(t, t.Context(), "3\nall\n\n2\n\n1e-5\n0\nall\n", args...)
	for _, want := range []string{"How many nodes train?", "How much memory",
		"mafalda advise --T 8 --delta 1e-05 --epsilon 2 --graph complete:3",
		"own noise, in turn, dense", "take "} {
		if code != 0 || strings.Count(screen, want) == 0 {
			t.Errorf("code %d, no %q in\n%s", code, want, screen)
		}
	}
	if code, screen = runAtTerminal(t, t.Context(), "3\n\x04", args...); code != 2 || !strings.Contains(screen,
		"mafalda: no answer") {
		t.Errorf("at the end of the input: code %d\n%s", code, screen)
	}
	if code, screen = runAtTerminal(t, t.Context(), "", append(args, "--json")...); code != 2 ||
		strings.Contains(screen, "How many nodes") {
		t.Errorf("with --json: code %d\n%s", code, screen)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if code, screen = runAtTerminal(t, ctx, "", args...); code != 130 || !strings.Contains(screen, "mafalda: interrupted") {
		t.Errorf("after Ctrl-C: code %d\n%s", code, screen)
	}
}
