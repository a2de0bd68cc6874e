package simulate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mafalda/internal/lists"
)

// A Summary is of runs that differ in their seeds only. Runs that diverged are counted and left out of the numbers, which
// are nil where there are none.
type Summary struct {
	Seeds    int      `json:"seeds"`
	Diverged int      `json:"diverged,omitempty"`
	Mean     *float64 `json:"mean_last50,omitempty"`   // mean of Result.Mean over the runs
	Std      *float64 `json:"std_last50,omitempty"`    // standard deviation of Result.Mean between runs
	Median   *float64 `json:"median_last50,omitempty"` // median of Result.Mean: the mean depends on where a few far test records are
	Least    *float64 `json:"least_last50,omitempty"`  // Result.Mean of the best run
	Final    *float64 `json:"final,omitempty"`
	Full     *float64 `json:"final_full_test,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"` // share of right answers at the end, on all test records; nil for regressions
	Clipped  float64  `json:"clipped_fraction"`
}

// Summarize returns the summary of runs.
func Summarize(runs []*Result) Summary {
	mean := func(of func(r *Result) *float64) *float64 {
		return finite(stat.Mean(known(runs, of), nil))
	}
	means := known(runs, func(r *Result) *float64 { return r.Mean })
	average, std := stat.MeanStdDev(means, nil)
	s := Summary{Seeds: len(runs), Diverged: len(runs) - len(means), Mean: finite(average), Std: finite(std),
		Median:   finite(median(means)),
		Final:    mean(func(r *Result) *float64 { return r.Final }),
		Full:     mean(func(r *Result) *float64 { return r.Full }),
		Accuracy: mean(func(r *Result) *float64 { return r.Accuracy })}
	if len(means) > 0 {
		s.Least = new(slices.Min(means))
	}
	s.Clipped = stat.Mean(lists.Map(runs, func(r *Result) float64 { return r.Clipped }), nil)
	return s
}

// known returns a number of all runs that have it.
func known(runs []*Result, of func(r *Result) *float64) []float64 {
	var values []float64
	for _, r := range runs {
		if v := of(r); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// Paired is a difference of losses over the same seeds: b's loss less a's in the last steps, run by run.
type Paired struct {
	Runs       int      `json:"-"` // seeds for which neither diverged
	Difference float64  `json:"difference"`
	StdErr     *float64 `json:"standard_error,omitempty"`
}

// Compare compares runs of a and b, of which those with the same index have the same seed; nil if there are none of which
// neither diverged. It panics if there are not as many of both.
func Compare(a, b []*Result) *Paired {
	if len(a) != len(b) {
		panic("simulate: runs cannot be paired")
	}
	var differences []float64
	for i := range a {
		if a[i].Mean != nil && b[i].Mean != nil {
			differences = append(differences, *b[i].Mean-*a[i].Mean)
		}
	}
	if differences == nil {
		return nil
	}
	difference, std := stat.MeanStdDev(differences, nil)
	return &Paired{len(differences), difference, finite(std / math.Sqrt(float64(len(differences))))}
}

// finite returns nil for what is no finite number.
func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// median returns the middle value, or the mean of the two in the middle; NaN without values.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
