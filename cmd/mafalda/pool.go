package main

import (
	"errors"
	"runtime"
	"sync"
)

// pool runs functions side by side, and waits with the next one while all are busy.
type pool struct {
	free chan struct{}
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func newPool() *pool { return newPoolOf(runtime.GOMAXPROCS(0)) }

// newPoolOf runs so many functions at a time.
func newPoolOf(workers int) *pool { return &pool{free: make(chan struct{}, workers)} }

// do starts f, or returns the errors there have been.
func (p *pool) do(f func() error) error {
	p.free <- struct{}{}
	if err := p.failed(); err != nil {
		<-p.free
		return err
	}
	p.wg.Go(func() {
		defer func() { <-p.free }()
		if err := f(); err != nil {
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
