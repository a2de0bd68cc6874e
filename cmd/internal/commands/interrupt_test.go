package commands

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"mafalda/cmd/internal/terminal"
)

// stopAfter runs a command line, ends its context after a while, and returns how long it took from there.
func stopAfter(after time.Duration, args ...string) (code int, stdout, stderr string, took time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan time.Time, 1)
	time.AfterFunc(after, func() {
		ended <- time.Now()
		cancel()
	})
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs)
	return code, out.String(), errs.String(), time.Since(<-ended)
}

// An audit, and accounting, stop at once whatever they compute, with exit code 130; what was stopped has not passed.
func TestInterruptedComputations(t *testing.T) {
	for _, args := range []string{
		"audit --graph florentine --T 100 --attacker Medici --runs 100000",
		"audit --graph florentine --T 120 --attacker Medici --runs 10",
		"audit --sampling poisson:probability=0.1 --T 1000 --noise-multiplier 2 --delta 1e-6 --runs 1e7",
		"account --graph florentine --T 400 --attacker Medici",
		"account --graph florentine --growth 10,400 --attacker Medici",
		"simulate --optimizer rounds:1e4 --methods none --seeds 1",
	} {
		code, stdout, stderr, took := stopAfter(50*time.Millisecond, strings.Fields(args)...)
		if code != terminal.ExitInterrupted || strings.Contains(stdout, "passed") || !strings.Contains(stderr, "interrupted") ||
			took > time.Minute {
			t.Errorf("%s: code %d after %v, %s%s", args, code, took, stdout, stderr)
		}
	}
}

// What cannot fit into memory is refused in a line before it is begun.
func TestBeyondTheMemory(t *testing.T) {
	for _, args := range []string{
		"account --graph florentine --T 1e7 --attacker Medici",
		"account --graph florentine --growth 10,1e7 --attacker Medici",
		"account --graph florentine --T 10 --algorithm muffliato --optimizer rounds:1e12 --attacker Medici",
		"audit --graph florentine --T 10 --attacker Medici --runs 1e12", "simulate --task records=1e13",
		"audit --sampling poisson:probability=0.1 --T 10 --noise-multiplier 2 --delta 1e-6 --runs 1e12",
		"simulate --seeds 1e13", "simulate --T 1e8",
		"simulate --T 1e8 -k 1", "optimize --graph florentine --T 1e7",
	} {
		started := time.Now()
		code, stdout, stderr := mafalda(strings.Fields(args)...)
		if code != terminal.ExitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "of memory, ") ||
			stdout != "" {
			t.Errorf("%s: code %d, %s%s", args, code, stdout, stderr)
		}
		if took := time.Since(started); took > time.Minute {
			t.Errorf("%s: refused after %v", args, took)
		}
	}
	for _, args := range []string{"graph hypercube:60", "graph complete:1e6", "graph grid:1e6x1e6",
		"graph erdos:1e9,0.5", "optimize --graph florentine --T 380 --gram lanczos:probes=1e13",
		"audit --graph florentine --T 10 --algorithm muffliato --optimizer rounds:1e12 --attacker Medici",
		"audit --graph florentine --T 1e7 --attacker Medici"} {
		code, stdout, stderr := mafalda(strings.Fields(args)...)
		if code != terminal.ExitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", args, code, stdout, stderr)
		}
	}
}
