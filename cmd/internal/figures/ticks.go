package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks returns the ticks of an axis; at least two have labels, and those of a logarithmic axis without one are minor.
func ticks(low, high float64, log bool) plot.ConstantTicks {
	if log {
		all := logTicks(low, high)
		labelled := slices.DeleteFunc(slices.Clone(all), func(t plot.Tick) bool { return t.Label == "" })
		if len(labelled) > 1 {
			return all
		}
	}
	return roundTicks(low, high)
}

// roundTicks labels multiples of 1, 2 or 5 times a power of ten, about six of them.
func roundTicks(low, high float64) (all []plot.Tick) {
	rough := (high - low) / 6
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
			all = append(all, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 12, 64)})
		}
	}
	return all
}

// logTicks labels powers of ten, beyond eight decades some of them, and marks their multiples; in short ranges round multiples
// are labelled, too, all as plain numbers.
func logTicks(low, high float64) (all []plot.Tick) {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	step, short := math.Ceil((last-first)/8), high/low < 100 && low >= 1e-3 && high <= 1e6
	labelled := "125"
	if high/low < 20 {
		labelled = "123457"
	}
	for e := first; e <= last; e++ {
		for digit := 1.0; digit < 10 && (digit == 1 || step == 1); digit++ {
			v := digit * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case short && strings.Contains(labelled, strconv.Itoa(int(digit))):
				t.Label = strconv.FormatFloat(v, 'f', max(0, -int(e)), 64)
			case !short && digit == 1 && math.Mod(e-first, step) == 0:
				t.Label = power(int(e))
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
