package parallel

import (
	"context"
	"time"
)

// Await runs f and returns its error, or the cause of ctx soon after ctx has ended: f is left behind then, and what it
// does must no longer matter. It is for computations that look at no context, and without it keep a caller from ending.
func Await(ctx context.Context, f func() error) error {
	if ctx.Done() == nil {
		return f()
	}
	_, err := Abandonable(ctx, func(context.Context) (struct{}, error) { return struct{}{}, f() })
	return err
}

// soon is how long a context that has ended waits for what is about to be finished.
const soon = 200 * time.Millisecond

// Abandonable is Await for work that returns a value: the zero value and the cause of ctx, if work was left behind.
func Abandonable[T any](ctx context.Context, work func(ctx context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work(ctx)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(soon):
		var none T
		return none, context.Cause(ctx)
	}
}
