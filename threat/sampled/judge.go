package sampled

import (
	"math"

	"mafalda/accounting"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/threat/internal/contest"
)

// claimShares are about the points of the claimed curve that are attacked, in parts of the claimed ε, which is one,
// too.
var claimShares = [...]float64{0, 0.125, 0.25, 0.5, 0.75}

// points returns what is claimed for several ε, the claimed one last.
func (c Claim) points() ([]Point, error) {
	var points []Point
	if c.Curve != nil {
		for _, share := range claimShares {
			epsilon := rounding.Up(share*c.Epsilon, 4)
			delta, err := c.Curve(epsilon)
			if err != nil {
				return nil, err
			}
			points = append(points, Point{Epsilon: epsilon, Delta: delta})
		}
	}
	return append(points, Point{Epsilon: c.Epsilon, Delta: c.Delta}), nil
}

// judge holds the attacker's statistic, in runs with the record and in ones without, against the points, each in both
// directions. All limits hold together with this confidence: each of two a test fails with an equal share of what is left.
func judge(claim Claim, points []Point, with, without []float64, confidence float64) Result {
	out := Result{Epsilon: claim.Epsilon, Delta: claim.Delta, Runs: len(with), Passed: true}
	share := (1 - confidence) / float64(4*len(points))
	directions := [...]string{"remove", "add"}
	if claim.Adjacency == accounting.ReplaceOne {
		directions = [...]string{"replace", "replace back"}
	}
	for _, direction := range directions {
		p, q := with, without
		if direction == directions[1] {
			p, q = negated(without), negated(with)
		}
		first, second := contest.Halves(p, q)
		for i, point := range points {
			point.Direction = direction
			measure := point.delta // large δ have more power
			if i == len(points)-1 {
				measure = point.epsilon
			}
			pLow, qHigh := second.Limits(first.Threshold(share, measure), share)
			point.DeltaLow, point.EpsilonLow = max(0, point.delta(pLow, qHigh)), max(0, point.epsilon(pLow, qHigh))
			point.Passed = point.DeltaLow <= point.Delta
			out.Passed = out.Passed && point.Passed
			out.Points = append(out.Points, point)
			if i == len(points)-1 {
				out.EpsilonLow = max(out.EpsilonLow, point.EpsilonLow)
			}
		}
	}
	return out
}

// delta returns the least δ at the point's ε with an event of these probabilities.
func (p Point) delta(under, other float64) float64 { return under - math.Exp(p.Epsilon)*other }

// epsilon returns the least ε at the point's δ, likewise; -Inf if any will do.
func (p Point) epsilon(under, other float64) float64 { return math.Log(max(0, under-p.Delta) / other) }

func negated(all []float64) []float64 {
	return lists.Map(all, func(x float64) float64 { return -x })
}
