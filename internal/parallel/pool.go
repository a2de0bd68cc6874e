package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Pool runs functions side by side, as many as there are processors, and waits with the next one while all are busy. It
// leaves those behind that run when its context ends. It is for one goroutine at a time.
type Pool struct {
	ctx  context.Context
	free chan struct{}
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// NewPool returns a pool. When ctx ends, it no longer waits for the functions that still run.
func NewPool(ctx context.Context) *Pool {
	return &Pool{ctx: ctx, free: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Do starts f, or returns the errors there have been.
func (p *Pool) Do(f func() error) error {
	p.free <- struct{}{}
	if err := p.failure(); err != nil {
		<-p.free
		return err
	}
	p.wg.Go(func() {
		defer func() { <-p.free }()
		if err := Await(p.ctx, f); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.errs = append(p.errs, err)
		}
	})
	return nil
}

func (p *Pool) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// Wait waits for all functions and returns their errors.
func (p *Pool) Wait() error {
	p.wg.Wait()
	return p.failure()
}
