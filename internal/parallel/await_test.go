package parallel

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	wrong := errors.New("wrong")
	if err := Await(ctx, func() error { return wrong }); err != wrong {
		t.Error(err)
	}
	block := make(chan struct{})
	defer close(block)
	time.AfterFunc(time.Millisecond, cancel)
	if err := Await(ctx, func() error { <-block; return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Await(context.Background(), func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// What is left behind returns nothing, and the context's cause is the error.
func TestAbandonable(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	block := make(chan struct{})
	defer close(block)
	cancel(stop)
	value, err := Abandonable(ctx, func(context.Context) (int, error) { <-block; return 1, nil })
	if value != 0 || !errors.Is(err, stop) {
		t.Errorf("%d, %v", value, err)
	}
	if value, err := Abandonable(ctx, func(context.Context) (int, error) { return 2, nil }); value != 2 || err != nil {
		t.Errorf("what is finished at once: %d, %v", value, err)
	}
}
