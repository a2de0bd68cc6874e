package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mafalda/internal/text"
)

// Local runs shards as processes of this machine, all at once, waits for them, and merges.
type Local struct{}

var _ Engine = Local{}

func (Local) Name() string { return "local" }

func (Local) Check(j *Job) error { return nil }

// processors is the variable by which a shard is told how many it may use.
const processors = "GOMAXPROCS"

func (Local) Write(w io.Writer, j *Job) error {
	script := "#!/bin/sh\n"
	for _, i := range j.Shards {
		script += fmt.Sprintf("%s=%d %s &\n", processors, j.Processors, text.Line(j.shardCommand(j.part(fmt.Sprint(i)))...))
	}
	if len(j.Shards) > 0 {
		script += "wait\n"
	}
	_, err := io.WriteString(w, script+text.Line(j.Merge...)+"\n")
	return err
}

// grace is how long a shard that was interrupted may take to end by itself.
const grace = 10 * time.Second

// Run waits until all shards have ended, interrupts them when ctx ends or the terminal is closed, and merges, if every
// shard has succeeded.
func (l Local) Run(ctx context.Context, j *Job, w, complain io.Writer) error {
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	errs := make([]error, len(j.Shards))
	together := &oneWriter{w: complain}
	var wg sync.WaitGroup
	for at, i := range j.Shards {
		wg.Go(func() {
			words := j.shardCommand(j.part(fmt.Sprint(i)))
			if err := l.run(ctx, j, words, together, together); err != nil {
				errs[at] = fmt.Errorf("shard %s: %w", words[len(words)-1], err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return l.run(ctx, j, j.Merge, w, complain)
}

// run runs one process.
func (Local) run(ctx context.Context, j *Job, words []string, w, complain io.Writer) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", processors, j.Processors))
	cmd.Stdout, cmd.Stderr = w, complain
	detach(cmd)
	cmd.WaitDelay = grace
	return cmd.Run()
}

// oneWriter lets several processes write to one place.
type oneWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneWriter) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}
