package threat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mafalda/graph"
	"mafalda/secrets"
	"mafalda/strategy"
)

// Algorithm is a decentralized learning algorithm: what noise its messages carry, and how often they are averaged. The
// standard deviation of the noise is the unit that sensitivities are measured in: 1 for the noise that every node draws
// for itself.
type Algorithm struct {
	name   string
	filter strategy.Filter     // correlation over time, nil for none
	dense  []strategy.Strategy // correlation over time that has no small filter, of every node or one for all; nil otherwise
	rounds int                 // gossip rounds a step
	shared float64             // standard deviation of the noise that cancels between neighbours
	alone  float64             // standard deviation of a node's own noise
	zip    bool                // noise of single messages
	origin *origin             // where the strategies come from
	space  *sharing            // noise that nodes share in pairs, C⁻¹ and all; nil for none
	levels []OwnLevel          // every node's level; nil where all have one

	inUnits bool // the gossip matrix is in units of every node's own noise: Scenario.inOwnUnits

	training *Training // nil: plain gradient descent, and a network that stays
}

// SharesNoise reports whether nodes share noise with each other: an eavesdropper then learns less than local DP allows.
func (a Algorithm) SharesNoise() bool { return a.shared > 0 || a.space != nil }

// correlation returns the strategy that correlates a node's noise over time.
func (a Algorithm) correlation(node, steps int) strategy.Strategy {
	switch {
	case a.filter == nil && a.dense == nil:
		return strategy.Identity(steps)
	case a.origin != nil:
		return a.origin.strategies[min(node, len(a.origin.strategies)-1)]
	}
	return strategy.AntiPGD(steps)
}

// drawn returns the noise that nodes draw in a step, before a strategy correlates it: their own, and what pairs share.
func (a Algorithm) drawn(w *graph.CSR) *secrets.Noise {
	if a.space != nil {
		return a.space.noise.Noise
	}
	n, _ := w.Dims()
	noise := &secrets.Noise{Own: slices.Repeat([]float64{a.alone}, n)}
	w.DoNonZero(func(i, j int, v float64) {
		if a.shared > 0 && v != 0 && (i < j || i > j && w.At(j, i) == 0) {
			noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: secrets.Pair{U: min(i, j), V: max(i, j)}, Deviation: a.shared})
		}
	})
	slices.SortFunc(noise.Pairs, func(p, q secrets.Shared) int { return cmp.Or(cmp.Compare(p.U, q.U), cmp.Compare(p.V, q.V)) })
	return noise
}

// own returns the standard deviation of a node's own noise, in units of its level.
func (a Algorithm) own(node int) float64 {
	if a.space != nil {
		return a.space.noise.Own[node] / a.part(node)
	}
	return a.alone
}

// Name returns the algorithm's name.
func (a Algorithm) Name() string { return a.name }

// DPDSGD is DP-D-SGD: independent noise in every gradient, one gossip round a step. Gossip averaging with independent
// noise (Koskela & Kulkarni) is the same algorithm for given data instead of gradients.
func DPDSGD() Algorithm { return Algorithm{name: "dp-d-sgd", rounds: 1, alone: 1} }

// Muffliato is Muffliato-SGD(K) (Cyffers et al. 2022): K ≥ 1 gossip rounds after every noisy gradient; K = 1 is
// DP-D-SGD. A step is a gradient; the attacker sees K messages of every neighbour in it.
func Muffliato(rounds int) (Algorithm, error) {
	if rounds < 1 {
		return Algorithm{}, fmt.Errorf("Muffliato-SGD with %d gossip rounds a step: must be at least 1", rounds)
	}
	return Algorithm{name: "muffliato", rounds: rounds, alone: 1}, nil
}

// DECOR (Allouah et al. 2024) adds to a node's own noise, of standard deviation own, noise that neighbours share with
// opposite signs: ±shared·z_e for every edge e, fresh in every step. Orientations change nothing.
func DECOR(own, shared float64) (Algorithm, error) {
	if !(own >= 0) || !(shared >= 0) || own+shared == 0 || own-own != 0 || shared-shared != 0 {
		return Algorithm{}, fmt.Errorf("DECOR with own noise %v and shared noise %v: must be finite, not negative, and not both zero",
			own, shared)
	}
	return Algorithm{name: "decor", rounds: 1, alone: own, shared: shared}, nil
}

// ZipDL (Biswas et al. 2025) adds different noise to the messages of a node to its neighbours: unit Gaussian noise for
// each, minus their mean, so that it sums to zero and cancels where messages are averaged. What a node keeps for itself
// carries none.
func ZipDL() Algorithm { return Algorithm{name: "zip-dl", rounds: 1, zip: true} }

// AntiPGD is the algorithm of that name (Koloskova et al. 2023): noise z_t - z_{t-1}.
func AntiPGD() Algorithm {
	anyLength := filterOf(strategy.AntiPGD(2)) // its filter goes on for ever
	return Algorithm{name: "antipgd", rounds: 1, alone: 1, filter: anyLength}
}

// ErrStrategy is returned for strategies over another number of steps.
var ErrStrategy = errors.New("strategy does not fit the run")

// MFDSGD is MF-D-SGD with the strategy C at every node: noise C⁻¹Z. A strategy whose filter keeps at most 32 rows, and
// fewer than T, has a fast path whatever T; any other, such as a dense one, needs the direct method of Account, which
// has a size limit.
func MFDSGD(c strategy.Strategy) Algorithm {
	a := Algorithm{name: "mf-d-sgd", rounds: 1, alone: 1, origin: &origin{strategies: []strategy.Strategy{c}}}
	if c.Name() == strategy.Identity(1).Name() {
		return a
	}
	if a.filter = filterOf(c); a.filter == nil {
		a.dense = a.origin.strategies
	}
	return a
}

// MFDSGDPerNode is MF-D-SGD with the strategy strategies[v] at node v, all of the same number of steps; it goes by the
// direct method. Local DP is taken for the worst of them.
func MFDSGDPerNode(strategies []strategy.Strategy) Algorithm {
	return Algorithm{name: "mf-d-sgd", rounds: 1, alone: 1, origin: &origin{strategies: strategies}, dense: strategies}
}
