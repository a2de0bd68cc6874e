// Package secant finds noise multipliers by secants in logarithms.
package secant

import (
	"math"

	"mafalda/internal/rounding"
)

// Digits is how many significant decimal digits a noise multiplier has that was searched for.
const Digits = 8

// Search looks for the least noise multiplier at which ε meets a goal, up to a relative accuracy.
type Search struct {
	Low, High float64 // multipliers, between which it looks
	Slope     float64 // a guess of d log ε/d log multiplier
	Epsilon   float64 // the goal
	Close     float64 // relative distance below the goal at which an ε is close enough
	Margin    float64 // relative distance below the goal that the next multiplier aims at
	Tries     int
}

// Least returns the least multiplier among those tried, of Digits digits, whose ε is at most the goal, from a guess of its
// logarithm: +Inf if it found none. The ε of a multiplier is what at returns; done ends the search early, once one is found that
// is enough, in an interval of that width in logarithms. It fails as at does.
func (s Search) Least(guess float64, at func(multiplier float64) (float64, error), done func(width float64) bool) (float64, error) {
	goal := math.Log(s.Epsilon) - s.Margin
	low, high, slope := math.Log(s.Low), math.Log(s.High), s.Slope
	best, lastX, lastY := math.Inf(1), math.NaN(), 0.0
	for range s.Tries {
		m := math.Max(math.Min(rounding.Up(math.Exp(guess), Digits), s.High), s.Low)
		epsilon, err := at(m)
		if err != nil {
			return 0, err
		}
		x, y := math.Log(m), math.Max(math.Log(epsilon), goal-10)-goal
		if epsilon <= s.Epsilon {
			best, high = math.Min(best, m), math.Min(high, x)
			if y > -s.Close || m <= s.Low {
				break
			}
		} else {
			low = math.Max(low, x)
			if m >= s.High {
				break
			}
		}
		if high-low < s.Close || !math.IsInf(best, 1) && done(high-low) {
			break
		}
		if d := (y - lastY) / (x - lastX); d < -0.05 && d > -50 {
			slope = d
		}
		lastX, lastY = x, y
		guess = x - y/slope
		if middle := (low + high) / 2; !(guess > low && guess < high) {
			guess = math.Min(middle, x+1)
			if y < 0 {
				guess = math.Max(middle, x-1)
			}
		}
	}
	return best, nil
}
