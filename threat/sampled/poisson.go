package sampled

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/threat"
)

// maxOverlap is how many participations may at most show in one step.
const maxOverlap = 10

// worstGroup returns the steps of the group whose columns have the largest norms; with fewest, of the groups of the
// fewest steps.
func (c columns) worstGroup(groups int, fewest bool) []int {
	var worst []int
	most := 0.0
	for g := range groups {
		steps, sum := c.every(g, groups), 0.0
		for _, s := range steps {
			norm := floats.Norm(c[s].entries, 2)
			sum += norm * norm
		}
		fewer, more := len(steps) < len(worst), len(steps) > len(worst)
		if worst == nil || fewest && fewer || !(fewest && more) && sum > most*(1+1e-9) {
			worst, most = steps, sum
		}
	}
	return worst
}

// blocks is the exact test for independent participations: with steps s_0 < s_1 < ... of the record's group, block j
// has the rows from s_j up to s_(j+1). The likelihood ratio is a sum over who took part in the last few steps,
// carried from block to block (a hidden Markov chain). With no more bands than groups these are one step each, and
// the ratio is the product Π (1-q+q exp(m_j·y/ν² - |m_j|²/2ν²)).
type blocks struct {
	overlap int // participations that show in one block, the newest first: bit 0 of a state
	q       float64
	each    []block
}

type block struct {
	weights []shift   // weights of the participations j, j-1, ... that show
	from    []int     // their first rows
	half    []float64 // |Σ of those in the state|²/2ν² within the block, by state
}

func newBlocks(c columns, steps []int, q, std float64) (*blocks, error) {
	overlap := 1
	for i, s := range steps {
		for overlap+i < len(steps) && steps[i+overlap] < c[s].end() {
			overlap++
		}
	}
	if overlap > maxOverlap {
		return nil, fmt.Errorf("%w: %d participations of one group show in one step, more than %d; take more groups",
			threat.ErrAudit, overlap, maxOverlap)
	}
	b, ends := &blocks{overlap: overlap, q: q}, append(slices.Clone(steps), len(c))
	for j := range steps {
		b.each = append(b.each, newBlock(c, steps[:j+1], ends[j+1], overlap, std))
	}
	return b, nil
}

func newBlock(c columns, until []int, to, overlap int, std float64) block {
	from := until[len(until)-1]
	var out block
	shown := make([][]float64, 0, overlap) // all rows of the block
	for i := range min(overlap, len(until)) {
		at, entries := c[until[len(until)-1-i]].within(from, to)
		row := make([]float64, to-from)
		copy(row[at-from:], entries)
		shown = append(shown, row)
		out.from = append(out.from, at)
		out.weights = append(out.weights, newShift(entries, std))
	}
	out.half = make([]float64, 1<<overlap)
	for state := range out.half {
		sum := make([]float64, to-from)
		for i, row := range shown {
			if state>>i&1 == 1 {
				floats.Add(sum, row)
			}
		}
		out.half[state] = newShift(sum, std).half
	}
	return out
}

func (b *blocks) logRatio(seen []float64) float64 {
	if b.overlap == 1 {
		return b.logProduct(seen)
	}
	states := 1 << b.overlap
	now, next, scores := make([]float64, states), make([]float64, states), make([]float64, states)
	now[0] = 1
	total := 0.0
	for _, k := range b.each {
		k.scoresTo(scores, seen)
		b.drawTo(next, now)
		most := math.Inf(-1)
		for state, weight := range next {
			if weight > 0 {
				most = max(most, scores[state])
			}
		}
		for state, weight := range next {
			if weight > 0 {
				next[state] *= math.Exp(scores[state] - most)
			}
		}
		sum := floats.Sum(next)
		floats.Scale(1/sum, next)
		total += math.Log(sum) + most
		now, next = next, now
	}
	return total
}

// drawTo writes how likely the states are after one more draw.
func (b *blocks) drawTo(next, now []float64) {
	clear(next)
	for state, weight := range now {
		without := state << 1 & (len(next) - 1)
		next[without] += weight * (1 - b.q)
		next[without|1] += weight * b.q
	}
}

// scoresTo writes the logarithm of each state's likelihood ratio.
func (k block) scoresTo(scores, seen []float64) {
	for state := range scores {
		scores[state] = -k.half[state]
	}
	for i, w := range k.weights {
		dot := floats.Dot(w.weights, seen[k.from[i]:k.from[i]+len(w.weights)])
		for state := range scores {
			if state>>i&1 == 1 {
				scores[state] += dot
			}
		}
	}
}

// logProduct returns what logRatio does, for blocks that each see at most one participation of the record.
func (b *blocks) logProduct(seen []float64) float64 {
	const far = 200 // so that no product overflows
	total, product := 0.0, 1.0
	for _, k := range b.each {
		w := k.weights[0]
		score := w.logRatio(seen[k.from[0] : k.from[0]+len(w.weights)])
		switch {
		case b.q == 1:
			total += score
		case score > far:
			total += score + math.Log(b.q+(1-b.q)*math.Exp(-score))
		default:
			product *= 1 - b.q + b.q*math.Exp(score)
		}
		if product > 1e80 || product < 1e-80 {
			total, product = total+math.Log(product), 1
		}
	}
	return total + math.Log(product)
}
