package reaction

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/lists"
)

// found is how near to the bound an attack must come to be the worst one.
const found = 3e-7

// attack fills in what is learned without a reaction, and what the worst linear answers found reach. Answers are
// improved as a policy is: along the best run against them every node turns to that end of its class, D = ρ + κ·sign,
// which costs more there. What they reach is exact whatever the answers.
func (b *bounder) attack(ctx context.Context, out *Result, pattern []int) error {
	ones := lists.Map(b.gates, func(*gate) []float64 { return slices.Repeat([]float64{1}, b.m) })
	still := b.answering(ones) // nodes that do not react
	tr, err := b.linearly(ctx, still, exact)
	if err != nil {
		return err
	}
	if tr != nil {
		out.WithoutReaction = gaussianOf(b.stages, tr, still, b.node, pattern).value
	}
	for _, answers := range [][][]float64{b.nearest(), b.boldest(pattern, false), b.boldest(pattern, true)} {
		reached := -1.0
		for range improvements {
			linear := b.answering(answers)
			tr, err := b.linearly(ctx, linear, exact)
			if err != nil {
				return err
			}
			if tr == nil {
				break
			}
			g := gaussianOf(b.stages, tr, linear, b.node, pattern)
			if out.Answers == nil || g.value > out.WorstAnswer {
				out.WorstAnswer, out.Answers = g.value, answers
			}
			if g.value <= reached*(1+1e-9) || out.WorstAnswer >= out.SensSquared*(1-found) {
				break
			}
			reached, answers = g.value, g.improved(b.classes)
			tr.release()
		}
		if out.WorstAnswer >= out.SensSquared*(1-found) {
			return nil
		}
	}
	return nil
}

// boldest returns linear answers that do what the worst answers do in a run of the class against the feedback of the
// linear pass. Feedback leaves differences where they cost nothing, and then nothing says which way to answer; with
// aside, power steps start from the answers that cost most beside the node whose difference weighs most.
func (b *bounder) boldest(pattern []int, aside bool) [][]float64 {
	answers := b.nearest()
	run := b.forward(b.first, b.answers, pattern, 1, b.steep)
	for t, chi := range run {
		if chi == nil {
			continue
		}
		a, pull := b.answers[t], b.first.pull[t]
		start := a.move.times(chi, 1)
		if aside {
			heaviest := 0
			weight := func(v int) float64 { return b.first.single[t][v] * chi[v] * chi[v] }
			for v := range b.m {
				if weight(v) > weight(heaviest) {
					heaviest = v
				}
			}
			delta := a.inject.transposeTimes(pull[heaviest*b.n:(heaviest+1)*b.n], 1)
			for v := range delta {
				delta[v] = math.Copysign(a.kappa[v]*chi[v], delta[v])
			}
			start = a.inject.times(delta, 1)
		}
		sigma := b.steepest(b.first, t, a, chi, false, start)
		for v, c := range b.classes[t] {
			answers[t][v] = c.costlier(dot(pull[v*b.n:(v+1)*b.n], sigma) * chi[v])
		}
	}
	return answers
}
