package study

import (
	"slices"
	"time"

	"mafalda/internal/lists"
)

// Remaining returns about how long the cells that are left will take, at the pace of the last ones that were finished; not
// known while there are fewer than two, and where no process seems to be at work any more.
func (o *Overview) Remaining(now time.Time) (left time.Duration, known bool) {
	const window = 100
	last := o.Finished[max(0, len(o.Finished)-window):]
	if len(last) < 2 {
		return 0, false
	}
	gaps := lists.Make(len(last)-1, func(i int) time.Duration { return last[i+1].Sub(last[i]) })
	ordered := slices.Sorted(slices.Values(gaps))
	pause := max(time.Minute, 20*ordered[len(ordered)/2]) // a process has stopped, and perhaps begun again
	end := last[len(last)-1]
	if now.Sub(end) > pause {
		return 0, false
	}
	first := len(gaps)
	for first > 0 && gaps[first-1] <= pause {
		first--
	}
	cells := len(gaps) - first
	if cells == 0 {
		return 0, false
	}
	return time.Duration(float64(end.Sub(last[first])) / float64(cells) * float64(len(o.Left))), true
}
