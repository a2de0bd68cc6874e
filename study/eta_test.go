package study

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"
)

func TestRemaining(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds ...float64) (all []time.Time) {
		for _, s := range seconds {
			all = append(all, start.Add(time.Duration(s*float64(time.Second))))
		}
		return all
	}
	const unknown = -1
	for name, tc := range map[string]struct {
		finished  []time.Time
		now, want float64 // seconds
	}{
		"nothing yet":            {nil, 0, unknown},
		"one":                    {at(0), 1, unknown},
		"one every two seconds":  {at(0, 2, 4, 6), 7, 20},
		"all at once":            {at(3, 3, 3), 3, 0},
		"begun again":            {at(0, 1, 2, 3, 5000, 5002, 5004), 5005, 20},
		"begun again just now":   {at(0, 1, 2, 3, 5000), 5001, unknown},
		"nobody is at work":      {at(0, 1, 2), 500, unknown},
		"long cells":             {at(0, 3000, 6000), 20000, 30000},
		"a clock that runs fast": {at(0, 2, 4), 1, 20},
	} {
		o := Overview{Finished: tc.finished, Left: make([]json.RawMessage, 10)}
		got, known := o.Remaining(at(tc.now)[0])
		if known != (tc.want >= 0) || known && got.Seconds() != tc.want {
			t.Errorf("%s: %v, %v; want %v s", name, got, known, tc.want)
		}
	}
	o := Overview{Left: make([]json.RawMessage, 1)}
	for i := range 1000 {
		o.Finished = append(o.Finished, start.Add(time.Duration(i*i)*time.Millisecond)) // slower and slower
	}
	if got, known := o.Remaining(o.Finished[999]); !known || got.Round(100*time.Millisecond) != 1900*time.Millisecond {
		t.Errorf("the pace of the last hundred: %v, %v", got, known)
	}
}

// The times come from the files of cells.
func TestFinished(t *testing.T) {
	dir, before := filepath.Join(t.TempDir(), "grid"), time.Now().Add(-time.Minute)
	if err := shard(t, dir, Shard{1, 2}, compute); err != nil {
		t.Fatal(err)
	}
	o, err := Look(dir)
	if err != nil || len(o.Finished) != o.Done || o.Done < 2 || o.Finished[0].Before(before) {
		t.Fatalf("%+v, %v", o, err)
	}
	if left, known := o.Remaining(time.Now()); !known || left > time.Minute {
		t.Errorf("%v, %v", left, known)
	}
}
