package study

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"mafalda/internal/files"
)

// lock waits for the lock of a file, which the system gives back when the process ends, however it ends. Where
// there are no locks it returns at once.
func lock(ctx context.Context, path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		switch err := files.TryLock(f); {
		case !errors.Is(err, files.ErrLocked): // locked, or locks are not to be had here
			return f.Close, nil
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), f.Close())
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}
