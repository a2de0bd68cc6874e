package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// waiting returns a program whose command says what it does, and then waits until it is interrupted.
func waiting(started chan<- struct{}) *cobra.Command {
	root := &cobra.Command{Use: "program", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(&cobra.Command{Use: "work", RunE: UntilInterrupted(func(cmd *cobra.Command) error {
		bar := NewProgress(cmd.ErrOrStderr(), true)
		bar.Stage("Gram matrix: part 1")
		bar.Show(0.25, "iteration 1")
		close(started)
		<-cmd.Context().Done()
		return cmd.Context().Err()
	})})
	return root
}

// A caller hears of progress in lines of JSON; when it is gone, the command ends and the caller's folder goes, too.
func TestCommandEndsWithItsCaller(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "mafalda-of-a-test")
	if err := os.MkdirAll(filepath.Join(folder, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	stdin, caller := io.Pipe()
	started := make(chan struct{})
	root := waiting(started)
	root.SetIn(stdin)
	go func() {
		<-started
		caller.Close()
	}()
	var errs bytes.Buffer
	code := Run(context.Background(), root, []string{"work", "--progress=json", "--lent-folder=" + folder}, io.Discard, &errs, plainly)
	if code != ExitInterrupted {
		t.Errorf("code %d, %s", code, &errs)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	var events []progressEvent
	for line := range strings.Lines(errs.String()) {
		var e progressEvent
		if json.Unmarshal([]byte(line), &e) == nil {
			events = append(events, e)
		}
	}
	if len(events) != 2 || events[0].Doing != "Gram matrix" || events[0].Fraction != nil ||
		events[1].Doing != "iteration 1" || events[1].Fraction == nil || *events[1].Fraction != 0.25 {
		t.Errorf("events %+v of %s", events, &errs)
	}
}

// A caller that lends no folder is waited for as well: the server of a trainer that was killed once went on.
func TestCommandEndsWithACallerThatLendsNothing(t *testing.T) {
	stdin, caller := io.Pipe()
	started := make(chan struct{})
	root := waiting(started)
	root.SetIn(stdin)
	go func() {
		<-started
		caller.Close()
	}()
	code := Run(context.Background(), root, []string{"work", "--lent-folder="}, io.Discard, io.Discard, plainly)
	if code != ExitInterrupted {
		t.Errorf("code %d", code)
	}
}

// Only folders that say they are temporary are removed, and progress has one form.
func TestCallerAsksForWhatThereIs(t *testing.T) {
	for _, flag := range []string{"--lent-folder=" + t.TempDir(), "--progress=xml"} {
		var errs bytes.Buffer
		if code := Run(context.Background(), waiting(nil), []string{"work", flag}, io.Discard, &errs, plainly); code != ExitUsage {
			t.Errorf("%s: code %d, %s", flag, code, &errs)
		}
	}
}

func plainly(_ *cobra.Command, err error) (string, bool) { return err.Error(), IsUsage(err) }
