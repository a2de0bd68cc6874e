package study

import (
	"context"
	"sync"
)

// Options tunes Run. The zero value computes one cell after the other.
type Options struct {
	Workers  int                   // cells at a time; 0 means 1
	Progress func(done, total int) // if not nil, hears of every cell that is begun or done, one call at a time

	// GoOn computes the other cells after one that failed, and keeps why it did (Store.Fail): for shards, which run
	// unattended. The error of Run is the first one.
	GoOn bool
}

// Run sees to it that all cells have results: it calls do for those that have none, begun in their order, and
// keeps what it returns. Results that another process has kept in the meantime are not computed again. After the
// first error, or the end of ctx, no cell is begun, and the context of those that are running ends. Any error is a
// [StoppedError]; what is kept stays.
func Run[C, R any](ctx context.Context, s *Store[C, R], cells []C, do func(context.Context, C) (R, error),
	o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := run[C, R]{Options: o, store: s, do: do}
	if err := r.sort(cells); err != nil {
		return &StoppedError{r.done, len(cells), err}
	}
	var wg sync.WaitGroup
	for range min(max(o.Workers, 1), len(r.missing)) {
		wg.Go(func() {
			for ctx.Err() == nil && r.computeNext(ctx, cancel) {
			}
		})
	}
	wg.Wait()
	if r.done < r.total {
		if r.failed != nil && ctx.Err() == nil {
			return &StoppedError{r.done, r.total, r.failed}
		}
		return &StoppedError{r.done, r.total, context.Cause(ctx)}
	}
	return nil
}

// run is what the workers share.
type run[C, R any] struct {
	Options
	store *Store[C, R]
	do    func(context.Context, C) (R, error)

	mu          sync.Mutex
	missing     []C // cells without a result, not begun
	done, total int
	failed      error // the first one, with GoOn
}

// sort tells the cells that have results from those that do not, each once.
func (r *run[C, R]) sort(cells []C) error {
	seen := map[string]bool{}
	for _, c := range cells {
		_, name, err := r.store.name(c)
		if err != nil {
			return err
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		r.total++
		_, there, err := r.store.Get(c)
		if err != nil {
			return err
		}
		if there {
			r.done++
		} else {
			r.missing = append(r.missing, c)
		}
	}
	return nil
}

// computeNext computes a cell that no worker has begun; false if all are begun. Its error, if it is the first one, ends
// ctx.
func (r *run[C, R]) computeNext(ctx context.Context, cancel context.CancelCauseFunc) bool {
	r.mu.Lock()
	if len(r.missing) == 0 {
		r.mu.Unlock()
		return false
	}
	c := r.missing[0]
	r.missing = r.missing[1:]
	r.tell()
	r.mu.Unlock()
	if ofCell, err := r.compute(ctx, c); err != nil {
		if !ofCell || !r.GoOn || ctx.Err() != nil {
			cancel(err)
			return false
		}
		return r.fail(c, err, cancel)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	r.tell()
	return true
}

// fail writes down why a cell failed. It cancels the run and returns false if that cannot be written.
func (r *run[C, R]) fail(c C, because error, cancel context.CancelCauseFunc) bool {
	if err := r.store.Fail(c, because); err != nil {
		cancel(err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = because
	}
	return true
}

// compute computes a cell. ofCell says that an error concerns this cell alone; other errors, such as a full disk,
// concern the folder and so all cells.
func (r *run[C, R]) compute(ctx context.Context, c C) (ofCell bool, err error) {
	_, there, err := r.store.Get(c) // by now
	if there || err != nil {
		return false, err
	}
	result, err := r.do(ctx, c)
	if err != nil {
		return true, err
	}
	return false, r.store.Put(context.WithoutCancel(ctx), c, result) // it is finished: keep it
}

func (r *run[C, R]) tell() {
	if r.Progress != nil {
		r.Progress(r.done, r.total)
	}
}
