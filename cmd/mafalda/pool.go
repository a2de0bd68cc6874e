package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// await runs f and returns its error, or that of ctx soon after it has ended: f is left behind then, and what it does
// must no longer matter. It is for computations that cannot be stopped, and without it keep a command from ending.
func await(ctx context.Context, f func() error) error {
	if ctx == nil || ctx.Done() == nil {
		return f()
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(soon):
		return context.Cause(ctx)
	}
}

// soon is how long an interrupted command waits for what is about to be finished.
const soon = 200 * time.Millisecond

// pool runs functions side by side, and waits with the next one while all are busy. It leaves those behind that run
// when its context ends.
type pool struct {
	ctx  context.Context
	free chan struct{}
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func newPool(ctx context.Context) *pool { return newPoolOf(ctx, runtime.GOMAXPROCS(0)) }

// newPoolOf runs so many functions at a time.
func newPoolOf(ctx context.Context, workers int) *pool {
	return &pool{ctx: ctx, free: make(chan struct{}, workers)}
}

// do starts f, or returns the errors there have been.
func (p *pool) do(f func() error) error {
	p.free <- struct{}{}
	if err := p.failed(); err != nil {
		<-p.free
		return err
	}
	p.wg.Go(func() {
		defer func() { <-p.free }()
		if err := await(p.ctx, f); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.errs = append(p.errs, err)
		}
	})
	return nil
}

func (p *pool) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// wait waits for all functions and returns their errors.
func (p *pool) wait() error {
	p.wg.Wait()
	return p.failed()
}
