package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/lists"
)

// axis is a range of values, and where it has ticks.
type axis struct {
	label     string
	low, high float64
	log       bool
	zero      float64   // what stands for 0, if it is not 0
	measured  []float64 // values that were measured, which have ticks where these are few
	names     []string  // names of 0, 1, …, which alone have ticks
	whole     bool      // there is nothing between whole numbers
	downward  bool      // labels count from the top: of rows
}

// share returns where a value is, from 0 to 1.
func (a axis) share(v float64) float64 {
	if a.log {
		return math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// tick is a place on an axis.
type tick struct {
	value float64
	label string
	rank  int  // labels of lower rank come first where there is no room for all
	plain bool // the tick has no line of the grid
	minor bool
}

// length is how long a tick is, relative to the letters.
func (t tick) length() float64 {
	if t.minor {
		return 0.2
	}
	return 0.35
}

// ticks returns the ticks of an axis of a length, with labels as far as they have room: extent is how much one takes. At least
// two have labels, if there is room for two.
func (a axis) ticks(length float64, extent func(label string) float64) (all []tick) {
	switch {
	case a.names != nil:
		for i, name := range a.names {
			all = append(all, tick{value: float64(i), label: name, plain: true})
		}
		return all
	case a.log:
		all = logTicks(a.low, a.high, a.zero > 0)
	}
	labelled := func(some []tick) int { return len(a.roomFor(some, length, extent)) }
	if few := measuredTicks(a); few != nil {
		all = few
	} else if few := labelled(all); few < 2 || few < 3 && a.high/a.low < 10 {
		most := 6.0
		if a.whole && a.high-a.low >= 1 {
			most = min(most, a.high-a.low)
		}
		all = roundTicks(a.low, a.high, most)
		for n := most - 1; n > 1 && labelled(all) < len(all); n-- {
			if fewer := roundTicks(a.low, a.high, n); len(fewer) > 1 {
				all = fewer
			}
		}
	}
	for i, t := range all {
		if a.zero > 0 && t.value == a.zero {
			all[i].label = "0"
		}
	}
	with := a.roomFor(all, length, extent)
	for i, t := range all {
		all[i].label = ""
		if slices.Contains(with, i) {
			all[i].label = strings.ReplaceAll(t.label, "-", "−")
		}
		if a.downward {
			all[i].value = a.low + a.high - t.value
		}
	}
	return all
}

// roomFor returns the places of ticks whose labels have room, those of lower rank first.
func (a axis) roomFor(all []tick, length float64, extent func(label string) float64) (with []int) {
	order := lists.UpTo(len(all))
	slices.SortStableFunc(order, func(i, j int) int { return all[i].rank - all[j].rank })
	for _, i := range order {
		t := all[i]
		meets := func(j int) bool {
			return math.Abs(a.share(all[j].value)-a.share(t.value))*length < (extent(t.label)+extent(all[j].label))/2
		}
		if t.label != "" && !slices.ContainsFunc(with, meets) {
			with = append(with, i)
		}
	}
	return with
}

// measuredTicks are ticks at the values that were measured, if there are few, and none is at the next one; nil otherwise.
func measuredTicks(a axis) (all []tick) {
	const most, nearest = 16, 0.012
	values := slices.Compact(slices.Sorted(slices.Values(a.measured)))
	if len(values) < 2 || len(values) > most {
		return nil
	}
	for i, v := range values {
		if i > 0 && a.share(v)-a.share(values[i-1]) < nearest {
			return nil
		}
		t := tick{value: v, label: strconv.FormatFloat(v, 'g', 3, 64), rank: 2}
		if v == math.Trunc(v) && v < 1e7 {
			t.label = strconv.Itoa(int(v))
		}
		if i > 0 && t.label == all[i-1].label {
			return nil
		}
		if i == 0 || i == len(values)-1 {
			t.rank = 0
		} else if i%2 == 0 {
			t.rank = 1
		}
		all = append(all, t)
	}
	return all
}

// roundTicks labels multiples of 1, 2 or 5 times a power of ten, about as many as asked for.
func roundTicks(low, high, about float64) (all []tick) {
	rough := (high - low) / about
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := unit
	for _, factor := range []float64{2, 5, 10} {
		if step < rough {
			step = factor * unit
		}
	}
	first := math.Ceil(low / step)
	for i := range 20 {
		if v := (first+float64(i))*step + 0; v <= high*(1+1e-12) { // no negative zero
			all = append(all, tick{value: v, label: strconv.FormatFloat(v, 'g', 12, 64)})
		}
	}
	return all
}

// logTicks labels powers of ten, beyond eight decades some of them, and marks their multiples; in short ranges round multiples
// are labelled, too, all as plain numbers, as are counts.
func logTicks(low, high float64, counts bool) (all []tick) {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	step, short := math.Ceil((last-first)/8), high/low < 100 && low >= 1e-3 && high <= 1e6
	labelled := "152"
	if high/low < 20 {
		labelled = "152374"
	}
	for e := first; e <= last; e++ {
		for digit := 1.0; digit < 10 && (digit == 1 || step == 1); digit++ {
			v := digit * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := tick{value: v, minor: digit > 1, rank: strings.Index(labelled, strconv.Itoa(int(digit)))}
			switch {
			case short && t.rank >= 0:
				t.label = strconv.FormatFloat(v, 'f', max(0, -int(e)), 64)
			case !short && digit == 1 && math.Mod(e, step) == 0:
				t.label = power(int(e))
				if counts {
					t.label = strconv.FormatFloat(v, 'f', -1, 64)
				}
			}
			all = append(all, t)
		}
	}
	return all
}

// power returns 10 to the e as people write it.
func power(e int) string {
	raised := []rune(superscripts)
	label := "10"
	for _, c := range strconv.Itoa(e) {
		label += string(raised[max(strings.IndexRune("0123456789-", c), 0)])
	}
	return label
}
