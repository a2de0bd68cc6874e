package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// A pool runs everything, no more at a time than there are processors, and starts nothing after an error.
func TestPool(t *testing.T) {
	var running, most, done atomic.Int64
	p := NewPool(context.Background())
	for range 100 {
		err := p.Do(func() error {
			now := running.Add(1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			runtime.Gosched()
			running.Add(-1)
			done.Add(1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Wait(); err != nil || done.Load() != 100 || most.Load() > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d of 100, %d at a time, %v", done.Load(), most.Load(), err)
	}
	wrong := errors.New("wrong")
	if err := p.Do(func() error { return wrong }); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if err := p.Do(func() error { t.Error("started after an error"); return nil }); !errors.Is(err, wrong) {
		t.Error(err)
	}
}

// A pool whose context has ended waits for nothing.
func TestPoolEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	block := make(chan struct{})
	defer close(block)
	p := NewPool(ctx)
	if err := p.Do(func() error { <-block; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
