package protocols

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"mafalda/internal/parallel"
	"mafalda/simulate"
)

// PartPSP is training on DPPS (Zhou et al., Algorithm 2): node i holds the parameters (s_i, l_i) of a perceptron, whose first layers s
// are shared. In a round it takes a batch and
//
//	l_i ← l_i - γ_l ∇_l F(y_i, l_i)
//	ε_i = -γ_s clip(∇_s F(y_i, l_i)),     clip to ‖·‖₁ ≤ 𝔠,
//
// which DPPS averages with noise. Sharing all layers is SGPDP, stochastic gradient push with noise.
type PartPSP struct {
	Model    simulate.Perceptron
	Train    simulate.Dataset
	Test     simulate.Dataset
	Sequence *Sequence
	Shared   int // layers, from the first; 1 is the paper's PartPSP-1, all of them SGPDP

	Epochs     int     // passes of every node over its share of the records
	Batch      int     // records of a node in a round
	LocalRate  float64 // γ_l
	SharedRate float64 // γ_s
	Clip       float64 // 𝔠, of the sum of magnitudes of the shared gradient
	PushSum    PushSumOptions
}

// TrainResult is a run of PartPSP.
type TrainResult struct {
	Accuracy float64       // mean over the nodes of the share of right answers, of the average of the shared layers with their own
	Rounds   []RoundReport // of the protocol
	Clipped  float64       // share of the shared gradients that were clipped
	Diverged bool          // parameters left the range of numbers, and training ended: what is not a number is no right answer
}

// MeanReal returns the mean of the real sensitivities, the paper's RAS.
func (r *TrainResult) MeanReal() float64 {
	var sum float64
	for _, round := range r.Rounds {
		sum += round.Real
	}
	return sum / float64(len(r.Rounds))
}

func (p PartPSP) check() error {
	for _, v := range []float64{p.LocalRate, p.SharedRate, p.Clip} {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("learning rates %v and %v and the clipping norm %v: must be positive and finite", p.LocalRate, p.SharedRate, p.Clip)
		}
	}
	n := p.Sequence.Nodes()
	switch {
	case p.Shared < 1 || p.Shared > p.Model.Layers():
		return fmt.Errorf("%d shared layers of %d: at least one is shared", p.Shared, p.Model.Layers())
	case p.Epochs < 1 || p.Batch < 1:
		return fmt.Errorf("%d epochs with batches of %d records: must be positive", p.Epochs, p.Batch)
	case p.Train.Len()/n < p.Batch:
		return fmt.Errorf("%w: %d training records are fewer than a batch of %d for each of %d nodes", simulate.ErrData, p.Train.Len(), p.Batch, n)
	case p.Train.Features != p.Model.Features() || p.Test.Features != p.Model.Features() || p.Test.Len() == 0:
		return fmt.Errorf("%w: records of %d features, tests of %d, a model of %d", simulate.ErrData, p.Train.Features, p.Test.Features, p.Model.Features())
	}
	for _, data := range []simulate.Dataset{p.Train, p.Test} {
		if err := p.Model.Check(data); err != nil {
			return fmt.Errorf("%w: %w", simulate.ErrData, err)
		}
	}
	return nil
}

// learner is a node.
type learner struct {
	data     simulate.Dataset
	order    []int
	random   *rand.Rand
	theta    []float32 // y, then l
	gradient []float32
	step     []float64 // ε
	clipped  int
	worker   *simulate.PerceptronWorker
}

// Run trains once. The same seed gives the same data to the nodes and the same start and noise, whatever is shared. The errors are a
// configuration that makes no sense, a round whose sensitivity is underestimated (ErrSensitivity), and the context's.
func (p PartPSP) Run(ctx context.Context, seed uint64) (*TrainResult, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	stream := func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7061727470737000+purpose)) }
	n, size, shared := p.Sequence.Nodes(), p.Model.Size(), p.Model.Prefix(p.Shared)
	start := make([]float32, size)
	p.Model.Init(start, stream(0))
	deal := stream(1).Perm(p.Train.Len())
	nodes, values, steps := make([]*learner, n), make([][]float64, n), make([][]float64, n)
	for i := range nodes {
		share := deal[i*len(deal)/n : (i+1)*len(deal)/n]
		steps[i] = make([]float64, shared)
		nodes[i] = &learner{data: p.Train.Pick(share), random: stream(2 + uint64(i)), theta: append([]float32(nil), start...),
			gradient: make([]float32, size), step: steps[i], worker: p.Model.NewWorker().(*simulate.PerceptronWorker)}
		for _, v := range start[:shared] {
			values[i] = append(values[i], float64(v))
		}
	}
	push, err := NewPushSum(p.Sequence, values, p.PushSum, stream(1<<32))
	if err != nil {
		return nil, err
	}
	result := &TrainResult{}
	perEpoch := p.Train.Len() / n / p.Batch
	for round := range p.Epochs * perEpoch {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		parallel.For(n, func(i int) {
			node := nodes[i]
			if round%perEpoch == 0 {
				node.order = node.random.Perm(node.data.Len())
			}
			at := round % perEpoch * p.Batch
			node.descend(p, shared, node.data.Pick(node.order[at:at+p.Batch]))
		})
		report, err := push.Round(steps)
		if errors.Is(err, ErrDiverged) {
			result.Diverged = true
			break
		}
		if err != nil {
			return result, err
		}
		result.Rounds = append(result.Rounds, report)
		for i, node := range nodes {
			for c, v := range push.Corrected(i) {
				node.theta[c] = float32(v)
			}
		}
	}
	p.finish(result, nodes, push, shared)
	return result, nil
}

// descend updates the local layers, and computes ε.
func (l *learner) descend(p PartPSP, shared int, batch simulate.Dataset) {
	unclipped := math.Inf(1)
	scale := 1 / float64(batch.Len())
	if shared < len(l.theta) {
		l.worker.ClippedSumTo(l.gradient, l.theta, batch, unclipped)
		for c := shared; c < len(l.theta); c++ {
			l.theta[c] -= float32(p.LocalRate * scale * float64(l.gradient[c]))
		}
	}
	l.worker.ClippedSumTo(l.gradient, l.theta, batch, unclipped)
	var norm float64
	for _, g := range l.gradient[:shared] {
		norm += math.Abs(float64(g)) * scale
	}
	if norm > p.Clip {
		l.clipped++
	}
	factor := -p.SharedRate * scale / math.Max(1, norm/p.Clip)
	for c, g := range l.gradient[:shared] {
		l.step[c] = factor * float64(g)
	}
}

// finish averages the shared layers and tests them with every node's own.
func (p PartPSP) finish(result *TrainResult, nodes []*learner, push *PushSum, shared int) {
	average := make([]float64, shared)
	for i := range nodes {
		for c, v := range push.shared[i] {
			average[c] += v / float64(len(nodes))
		}
	}
	correct := make([]int, len(nodes))
	parallel.For(len(nodes), func(i int) {
		for c, v := range average {
			nodes[i].theta[c] = float32(v)
		}
		correct[i] = nodes[i].worker.Correct(nodes[i].theta, p.Test)
	})
	clipped := 0
	for i, node := range nodes {
		result.Accuracy += float64(correct[i]) / float64(p.Test.Len()*len(nodes))
		clipped += node.clipped
	}
	result.Clipped = float64(clipped) / float64(len(nodes)*max(len(result.Rounds), 1))
}
