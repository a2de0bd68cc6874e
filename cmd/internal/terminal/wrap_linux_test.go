package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudoterminal with this number of columns.
func terminal(t *testing.T, columns uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("a pseudoterminal: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return user, program
}

// What a command says on a terminal is wrapped at its width, its JSON is not, and neither is what goes elsewhere.
func TestRunOnATerminal(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 20))
	user, program := terminal(t, 70)
	root := func() *cobra.Command {
		return &cobra.Command{Use: "mafalda", Long: long, SilenceErrors: true, SilenceUsage: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if f, ok := FileOf(cmd.ErrOrStderr()); ok {
					if p := NewProgress(cmd.ErrOrStderr(), false); p.out != f || f != program {
						t.Error("progress waits for the end of a line")
					}
				}
				fmt.Fprintf(cmd.OutOrStdout(), "label    %s\n", long)
				if err := WriteJSONLine(cmd.OutOrStdout(), long); err != nil {
					return err
				}
				return Usagef("wrong: %s", long)
			}}
	}
	if code := Run(context.Background(), root(), nil, program, program, plainly); code != ExitUsage {
		t.Errorf("code %d", code)
	}
	if code := Run(context.Background(), root(), []string{"--help"}, program, program, plainly); code != 0 {
		t.Errorf("code %d", code)
	}
	fmt.Fprintln(program, "the end")
	var text string
	var err error
	for b := make([]byte, 1000); err == nil && !strings.Contains(text, "the end"); {
		var n int
		n, err = user.Read(b)
		text += strings.ReplaceAll(string(b[:n]), "\r", "")
	}
	for _, want := range []string{"label    word", "\n         word", `"` + long + `"`, "mafalda: wrong: word", "\n  word", "\nword word"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s%v", want, text, err)
		}
	}
	var out, errs strings.Builder
	if Run(context.Background(), root(), nil, &out, &errs, plainly); strings.Count(out.String(), "\n") != 2 || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%s%s", &out, &errs)
	}
}
