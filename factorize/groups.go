package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

const (
	roundGap     = 1e-4 // certified gap of the strategies while nodes still move
	roundGain    = 1e-5 // relative gain of a round below which the search ends
	mostRounds   = 30
	powerIterate = 50 // of the principal component
)

// splitGroups starts with one group, and cuts one after the other in two until there are enough; after every cut it
// alternates between strategies for the groups and the best strategy for every node.
func (s *splitter) splitGroups(ctx context.Context) (*Split, error) {
	whitened, weights, err := s.whiten()
	if err != nil {
		return nil, err
	}
	groups := [][]int{lists.UpTo(len(s.Grams))}
	var parts []*part
	rounds := 0
	for {
		last := math.Inf(1)
		for moved := true; moved && rounds < mostRounds*s.Groups && ctx.Err() == nil; rounds++ {
			if parts, err = s.solve(ctx, groups, parts, math.Max(roundGap, s.opts.Gap)); err != nil || parts == nil {
				return nil, err
			}
			var loss float64
			groups, parts, loss, moved = s.assign(groups, parts)
			moved = moved && loss < last*(1-roundGain)
			last = loss
		}
		cut := false
		if len(groups) < s.Groups {
			groups, parts, cut = cutWidest(groups, parts, whitened, weights)
		}
		if !cut || ctx.Err() != nil {
			break
		}
	}
	if parts, err = s.solve(ctx, groups, parts, s.opts.Gap); err != nil || parts == nil {
		return nil, err
	}
	bounds, err := s.nodeBounds(ctx, parts)
	if err != nil || bounds == nil {
		return nil, err
	}
	return s.split(ctx, parts, rounds, func(i int, _ *part) float64 { return bounds[i] })
}

// assign moves every node to the strategy with the smallest loss for it, drops groups that lose all nodes, and returns
// the total loss.
func (s *splitter) assign(groups [][]int, parts []*part) ([][]int, []*part, float64, bool) {
	next := make([][]int, len(parts))
	var loss float64
	moved := false
	for g, group := range groups {
		for _, i := range group {
			best, at := math.Inf(1), g
			for other, p := range parts {
				if l := inner(s.Grams[i], p.inverse); l < best {
					best, at = l, other
				}
			}
			loss += best
			moved = moved || at != g
			next[at] = append(next[at], i)
		}
	}
	var kept []*part
	groups = nil
	for g, group := range next {
		if len(group) > 0 {
			slices.Sort(group)
			groups, kept = append(groups, group), append(kept, parts[g])
		}
	}
	return groups, kept, loss, moved
}

// cutWidest cuts the group of the largest variance along its principal component in two, at the mean. The vectors are
// A_i = C⁻ᵀH_iC⁻¹/tr(·) with the shared strategy C, which are all that the losses of strategies near C depend on. It
// reports false if all groups consist of equal nodes.
func cutWidest(groups [][]int, parts []*part, vectors [][]float64, weights []float64) ([][]int, []*part, bool) {
	widest, largest := -1, 0.0
	var scores []float64
	for g, group := range groups {
		var v [][]float64
		var w []float64
		for _, i := range group {
			v, w = append(v, vectors[i]), append(w, weights[i])
		}
		score := principalComponent(v, w)
		var variance float64
		for i, x := range score {
			variance += w[i] * x * x
		}
		if variance > largest {
			widest, largest, scores = g, variance, score
		}
	}
	if widest < 0 {
		return groups, parts, false
	}
	var low, high []int
	for at, i := range groups[widest] {
		if scores[at] < 0 {
			low = append(low, i)
		} else {
			high = append(high, i)
		}
	}
	if len(low) == 0 || len(high) == 0 {
		return groups, parts, false
	}
	groups = append(slices.Clone(groups), high)
	groups[widest] = low
	return groups, append(slices.Clone(parts), parts[widest]), true
}

// whiten returns A_i of every node, scaled to trace one, T×T, and the losses it was divided by.
func (s *splitter) whiten() ([][]float64, []float64, error) {
	n := s.Shared.Steps()
	var noising mat.TriDense
	if err := s.Shared.NoisingTo(&noising); err != nil {
		return nil, nil, err
	}
	transposed := dense.FullTransposed(&noising).RawMatrix().Data
	all := make([][]float64, len(s.Grams))
	weights := make([]float64, len(s.Grams))
	half := make([]float64, n*n)
	full := mat.NewDense(n, n, nil)
	for i, h := range s.Grams {
		full.Copy(h)
		a := make([]float64, n*n)
		dense.MulTo(half, transposed, full.RawMatrix().Data, n) // C⁻ᵀH
		dense.MulTo(a, half, transposed, n)
		for t := range n {
			weights[i] += a[t*n+t]
		}
		if weights[i] > 0 {
			floats.Scale(1/weights[i], a)
		}
		all[i] = a
	}
	return all, weights, nil
}

// principalComponent returns the coordinate of every vector along the direction of largest weighted variance.
func principalComponent(vectors [][]float64, weights []float64) []float64 {
	mean := make([]float64, len(vectors[0]))
	for i, v := range vectors {
		floats.AddScaled(mean, weights[i]/floats.Sum(weights), v)
	}
	score := lists.Make(len(vectors), func(i int) float64 { return math.Sin(float64(i + 1)) }) // any vector will do
	direction := make([]float64, len(mean))
	for range powerIterate {
		clear(direction)
		var sum float64
		for i, v := range vectors {
			floats.AddScaled(direction, weights[i]*score[i], v)
			sum += weights[i] * score[i]
		}
		floats.AddScaled(direction, -sum, mean)
		norm := floats.Norm(direction, 2)
		if norm == 0 { // all vectors are equal
			return make([]float64, len(vectors))
		}
		floats.Scale(1/norm, direction)
		at := floats.Dot(mean, direction)
		for i, v := range vectors {
			score[i] = floats.Dot(v, direction) - at
		}
	}
	return score
}
