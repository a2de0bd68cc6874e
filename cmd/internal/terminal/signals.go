package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mafalda/internal/files"

	"github.com/spf13/cobra"
)

// running are the commands that have something to save when a signal comes, each with what ends its context.
var running struct {
	sync.Mutex
	cancels map[*context.CancelFunc]bool
}

// Interruptible returns a context that the first Ctrl-C ends, for commands that have something to save; the second one
// ends the program. Commands that do not ask for it are ended by the first.
func Interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	running.Lock()
	defer running.Unlock()
	if running.cancels == nil {
		running.cancels = map[*context.CancelFunc]bool{}
	}
	running.cancels[&cancel] = true
	return ctx, func() {
		running.Lock()
		delete(running.cancels, &cancel)
		running.Unlock()
		cancel()
	}
}

// EndOnSignals handles Ctrl-C and SIGTERM for the whole program: what is being written and not yet in its place is
// removed before the program ends as the signal has it.
func EndOnSignals() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	for s := range signals {
		if interrupt() {
			continue
		}
		files.RemoveTemporaries()
		signal.Reset(s)
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
			time.Sleep(time.Second) // the signal is on its way, unless the program was started with it ignored
		}
		os.Exit(ExitInterrupted)
	}
}

// interrupt ends the contexts of running commands and reports whether there were any: of a second signal there are
// none.
func interrupt() bool {
	running.Lock()
	defer running.Unlock()
	any := len(running.cancels) > 0
	for cancel := range running.cancels {
		(*cancel)()
	}
	clear(running.cancels)
	return any
}

// UntilInterrupted runs a command without arguments under an interruptible context.
func UntilInterrupted(run func(cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		ctx, stop := Interruptible(cmd.Context())
		defer stop()
		cmd.SetContext(ctx)
		return run(cmd)
	}
}
