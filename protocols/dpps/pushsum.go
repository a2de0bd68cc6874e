package dpps

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/parallel"
)

// PushSum is a running DPPS (Zhou et al., Algorithm 1). It is a simulation: noise comes from the generator it is given.
type PushSum struct {
	sequence *Sequence
	options  Options
	random   *rand.Rand

	round     int
	shared    [][]float64 // s_i
	corrected [][]float64 // y_i = s_i/a_i
	scalars   []float64   // a_i
	local     []float64   // S_i
	added     []float64   // what node i has added in this round, in ‖·‖₁
	noise     []float64   // γ_n‖n_i‖₁ of the round before
	mixed     []float64   // Σ_j w_ij ‖s_j‖₁ of the messages that were averaged in the round before
	window    *window     // the other sound estimate of the sensitivity; nil: not used
	first     bool        // values that differ have been put in, and no round has been yet
}

// Report is what happened in a round.
type Report struct {
	Round        int     `json:"round"`
	Estimated    float64 `json:"estimated"` // S, which the noise was calibrated to
	Real         float64 `json:"real"`      // the largest ‖·‖₁ distance of two messages before noise
	Synchronized bool    `json:"synchronized,omitempty"`
}

// NewPushSum starts from the values s_i(0), which it copies. The errors are options that make no sense and values
// that are not n vectors of one length.
func NewPushSum(s *Sequence, values [][]float64, o Options, r *rand.Rand) (*PushSum, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	n := s.Nodes()
	if len(values) != n {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(values), n)
	}
	p := &PushSum{sequence: s, options: o, random: r, local: make([]float64, n), noise: make([]float64, n),
		added: make([]float64, n), mixed: make([]float64, n)}
	if tau := o.Calibration.Ergodicity; len(tau) > 1 && o.Source != Omniscient {
		p.window = &window{tau: tau}
	}
	for i, v := range values {
		if len(v) != len(values[0]) || len(v) == 0 {
			return nil, fmt.Errorf("%w: node %s has %d coordinates, node %s %d", ErrNetwork, s.labels[i], len(v),
				s.labels[0],
				len(values[0]))
		}
		p.shared, p.corrected = append(p.shared, slices.Clone(v)), append(p.corrected, slices.Clone(v))
		p.scalars = append(p.scalars, 1)
	}
	// a start that all nodes share, as models do, moves no nodes apart
	p.first = slices.ContainsFunc(values, func(v []float64) bool { return !slices.Equal(v, values[0]) })
	return p, nil
}

// Shared returns s_i, the sum of which is kept but for noise. It must not be changed.
func (p *PushSum) Shared(i int) []float64 { return p.shared[i] }

// Corrected returns y_i. It must not be changed.
func (p *PushSum) Corrected(i int) []float64 { return p.corrected[i] }

// lost is more than what the arithmetic of estimates loses, relatively.
const lost = 0x1p-44

// Round runs a round with the perturbations ε_i (nil: none). The error wraps ErrSensitivity if the messages were
// further apart than estimated, ErrDiverged if they are no longer numbers: nothing has been sent then.
func (p *PushSum) Round(perturbations [][]float64) (Report, error) {
	report := Report{Round: p.round, Synchronized: p.options.Sync > 0 && (p.round+1)%p.options.Sync == 0}
	p.take(perturbations)
	report.Real = p.real()
	report.Estimated = p.agree(p.local)
	if p.window != nil {
		report.Estimated = math.Min(report.Estimated, p.window.estimate(p.agree(p.added)))
	}
	if p.options.Source == Omniscient {
		report.Estimated = report.Real
	}
	if report.Real-report.Real != 0 || report.Estimated-report.Estimated != 0 {
		return report, fmt.Errorf("%w: round %d: noise and sensitivity have grown beyond all numbers (more b, "+
			"a smaller noise rate, or synchronizing more often helps)", ErrDiverged, p.round)
	}
	if report.Estimated < report.Real && p.options.Source != Omniscient {
		return report, fmt.Errorf("%w: round %d: messages are %.6g apart in L1, the estimate is %.6g", ErrSensitivity,
			p.round,
			report.Real, report.Estimated)
	}
	if !p.options.NoNoise {
		p.addNoise(report.Estimated / p.options.B)
	}
	if p.window != nil {
		floats.Add(p.added, p.noise)
		p.window.finish(p.agree(p.added)) // in the next round, which needs it
	}
	p.mix(report.Synchronized)
	p.round++
	return report, nil
}

// take adds the perturbations to what is shared, and brings the nodes' estimates up to date.
func (p *PushSum) take(perturbations [][]float64) {
	c, lambda := p.options.Calibration.C, p.options.Calibration.Lambda
	for i, s := range p.shared {
		added := 0.0
		if p.first {
			added = floats.Norm(s, 1)
		}
		if perturbations != nil {
			floats.Add(s, perturbations[i])
			added += floats.Norm(perturbations[i], 1)
		}
		// messages and weights are floating-point numbers
		added += p.sequence.slack * math.Max(floats.Norm(s, 1), p.mixed[i])
		p.added[i] = added
		p.local[i] = (lambda*p.local[i] + 2*c*(added+lambda*p.noise[i])) * (1 + lost) // Equation 22
	}
	p.first = false
}

// agree is the broadcast: everybody learns the largest of the nodes' numbers, by max-consensus over the rounds' own
// graphs for as many rounds as that takes (BroadcastRounds).
func (p *PushSum) agree(numbers []float64) float64 { return slices.Max(numbers) }

// real returns the largest distance of two messages: of single numbers, of the largest and the smallest.
func (p *PushSum) real() float64 {
	if len(p.shared[0]) == 1 {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range p.shared {
			low, high = math.Min(low, s[0]), math.Max(high, s[0])
		}
		return high - low
	}
	most := make([]float64, len(p.shared))
	parallel.For(len(p.shared), func(i int) {
		for j := range i {
			if d := floats.Distance(p.shared[i], p.shared[j], 1); d > most[i] || math.IsNaN(d) {
				most[i] = d
			}
		}
	})
	return slices.Max(most)
}
