package simulate

import (
	"math"
	"slices"
)

// A Summary is of runs that differ in their seeds only. Runs that diverged are counted and left out of the numbers.
type Summary struct {
	Runs     int
	Diverged int
	Mean     float64 // of Result.Mean; NaN if all runs diverged, as are Median, Least, Final and Full
	Std      float64 // of Result.Mean between runs; NaN for less than two
	Median   float64 // of Result.Mean: a few test records far from all others make the mean a matter of the split
	Least    float64 // Result.Mean of the best run
	Final    float64
	Full     float64
	Accuracy float64 // NaN for regression, too
	Clipped  float64
	Seconds  float64 // a run
}

// Summarize returns the summary of runs.
func Summarize(runs []*Result) Summary {
	s := Summary{Runs: len(runs)}
	var means, finals, fulls, accuracies, clipped, seconds []float64
	for _, r := range runs {
		clipped, seconds = append(clipped, r.Clipped), append(seconds, r.Seconds)
		if r.Diverged > 0 {
			s.Diverged++
			continue
		}
		means, finals, fulls = append(means, r.Mean), append(finals, r.Final), append(fulls, r.Full)
		if r.Accuracy != nil {
			accuracies = append(accuracies, *r.Accuracy)
		}
	}
	s.Mean, s.Std = meanStd(means)
	s.Median = median(means)
	if s.Least = math.NaN(); len(means) > 0 {
		s.Least = slices.Min(means)
	}
	s.Final, _ = meanStd(finals)
	s.Full, _ = meanStd(fulls)
	s.Accuracy, _ = meanStd(accuracies)
	s.Clipped, _ = meanStd(clipped)
	s.Seconds, _ = meanStd(seconds)
	return s
}

// A Comparison is of two methods over the same seeds: b's loss less a's in the last steps, run by run.
type Comparison struct {
	Runs       int     // seeds for which neither diverged
	Difference float64 // mean of b - a; NaN without runs
	StdErr     float64 // of it; NaN for less than two runs
}

// Compare compares runs of a and b, of which those with the same index have the same seed. It panics if there are not as
// many of both.
func Compare(a, b []*Result) Comparison {
	if len(a) != len(b) {
		panic("simulate: runs cannot be paired")
	}
	var differences []float64
	for i := range a {
		if a[i].Diverged == 0 && b[i].Diverged == 0 {
			differences = append(differences, b[i].Mean-a[i].Mean)
		}
	}
	c := Comparison{Runs: len(differences)}
	var std float64
	c.Difference, std = meanStd(differences)
	c.StdErr = std / math.Sqrt(float64(c.Runs))
	return c
}

// meanStd returns mean and sample standard deviation, NaN where there is none.
func meanStd(values []float64) (mean, std float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	mean /= n
	for _, v := range values {
		std += (v - mean) * (v - mean)
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(std / (n - 1))
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
