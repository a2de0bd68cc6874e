package spent

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Account is what a run has given away.
type Account struct {
	Rounds  []Spent  `json:"rounds"` // after so many, ascending; the last is the whole run
	Phases  []Round  `json:"phases"` // what one round of each is
	Keep    *Keep    `json:"keep,omitempty"`
	Unit    string   `json:"unit"`
	Against string   `json:"against,omitempty"`
	Source  string   `json:"source,omitempty"`
	Open    []string `json:"left_open,omitempty"`
}

// Spent is an ε after some rounds, at the δ of the run.
type Spent struct {
	Rounds  int     `json:"rounds"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Round is one round of a phase.
type Round struct {
	Mechanism  string  `json:"mechanism"`
	Multiplier float64 `json:"noise_multiplier,omitempty"` // of gaussian: of all that a round gives away of a unit that takes part
	Epsilon    float64 `json:"epsilon"`                    // exactly, of the round alone, the first one of matrix, of a unit that takes part
	Announced  float64 `json:"announced,omitempty"`        // what it is said to be
}

// Keep is what would keep the whole run to the ε that is announced for a round.
type Keep struct {
	Epsilon float64 `json:"epsilon"`
	Times   float64 `json:"noise_times"` // the noise of every round, or
	Rounds  int     `json:"rounds"`      // so many rounds
}

// most is how many numbers of rounds are looked at.
const most = 12

// Account returns what the run has given away, round by round.
func (r *Run) Account() (*Account, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	a := &Account{Unit: r.Unit, Against: r.Against, Source: r.Source, Open: r.Open}
	total := 0
	for _, p := range r.Phases {
		one := p
		one.Rounds = 1
		one.Probability = 0
		epsilon, err := r.after([]Phase{one})
		if err != nil {
			return nil, err
		}
		a.Phases = append(a.Phases, Round{Mechanism: cmp.Or(p.Mechanism, "gaussian"), Multiplier: r.multiplier(p), Epsilon: epsilon,
			Announced: p.Epsilon})
		total += p.Rounds
	}
	for _, rounds := range looked(total) {
		epsilon, err := r.after(first(r.Phases, rounds))
		if err != nil {
			return nil, err
		}
		a.Rounds = append(a.Rounds, Spent{rounds, epsilon, r.Delta})
	}
	return a, r.keep(a)
}

// looked returns some numbers of rounds up to the last one: all, or powers of 2 and it.
func looked(total int) (rounds []int) {
	for n := 1; n < total; n *= 2 {
		rounds = append(rounds, n)
	}
	return slices.Insert(rounds[max(len(rounds)-most, 0):], min(len(rounds), most), total)
}

// first returns the first rounds of phases.
func first(phases []Phase, rounds int) (out []Phase) {
	for _, p := range phases {
		if p.Rounds = min(p.Rounds, rounds); p.Rounds > 0 {
			out = append(out, p)
		}
		rounds -= p.Rounds
	}
	return out
}

// Std returns the standard deviation, or the scale, of the noise over the clip, rounded down.
func (p Phase) Std(delta float64) float64 {
	down := 1 - 1e-14 // of a few operations
	sensitivity := cmp.Or(p.Sensitivity, p.Clip)
	switch {
	case p.NoiseMultiplier > 0:
		return p.NoiseMultiplier
	case p.Sigma > 0:
		return p.Sigma / p.Clip * down
	case p.Mechanism == "laplace":
		return sensitivity / p.Epsilon / p.Clip * down
	}
	return sensitivity * math.Sqrt(2*math.Log(1.25/cmp.Or(p.AnnouncedDelta, delta))) / p.Epsilon / p.Clip * down
}

// multiplier returns the noise multiplier of all that a round of Gaussian noise gives away, rounded down; 0 for others.
func (r *Run) multiplier(p Phase) float64 {
	if p.isPure() {
		return 0
	}
	each := cmp.Or(p.Weight, 1) / p.Std(r.Delta)
	sum := float64(max(p.Recipients, 1)) * each * each
	if p.CountStd > 0 {
		sum += 1 / (p.CountStd * p.CountStd)
	}
	return 1 / math.Sqrt(sum) * (1 - 1e-14)
}

// pure returns the ε of a round of pure DP.
func (r *Run) pure(p Phase, adjacency accounting.Adjacency) float64 {
	epsilon := 0.
	switch p.Mechanism {
	case "laplace": // 1-norms are up to √d times 2-norms
		epsilon = adjacency.Contribution(1) * math.Sqrt(float64(p.Parameters)) * cmp.Or(p.Weight, 1) / p.Std(r.Delta)
	case "svt":
		epsilon = p.Epsilon + cmp.Or(p.EpsilonRelease, math.Ceil(p.Fraction*float64(p.Parameters))*p.NoiseVar)
	}
	return float64(max(p.Recipients, 1)) * epsilon * (1 + 1e-14)
}

// after returns the ε of phases one after the other, rounded up.
func (r *Run) after(phases []Phase) (float64, error) {
	adjacency, err := r.adjacency()
	if err != nil {
		return 0, err
	}
	var mu, pure float64
	var sampled []pld.Rounds
	secret := false
	for _, p := range phases {
		z, rounds := r.multiplier(p), p.Rounds
		switch {
		case p.isPure():
			pure = rounding.Above(pure + r.pure(p, adjacency)*float64(p.Rounds))
			continue
		case p.growth != nil: // rows of C⁻¹Z are one Gaussian mechanism
			s, err := p.growth.Sensitivity(rounds)
			if err != nil {
				return 0, fault.New("Matrix", p.Matrix, "%v", err)
			}
			z, rounds = z/rounding.SqrtUp(s.Squared)*(1-1e-15), 1
		case p.Probability > 0 && p.Probability < 1:
			secret = true
		}
		sampled = append(sampled, pld.Rounds{Mechanism: pld.Mechanism{Probability: cmp.Or(p.Probability, 1), NoiseMultiplier: z}, Rounds: rounds})
		if mu, err = accounting.Compose(mu, adjacency.Contribution(1)*math.Sqrt(float64(rounds))/z*(1+1e-15)); err != nil {
			return 0, err
		}
	}
	if len(phases) == 1 && pure > 0 {
		p := phases[0]
		advanced, err := accounting.ComposeAdvanced(r.pure(p, adjacency), p.Rounds, r.Delta)
		if err == nil {
			pure = math.Min(pure, advanced)
		}
	}
	switch {
	case len(sampled) == 0:
		return pure, nil
	case secret:
		d, err := pld.Compose(adjacency, sampled...)
		if err != nil {
			return 0, err
		}
		epsilon, _, err := d.Epsilon(r.Delta)
		return sum(epsilon, pure), err
	}
	epsilon, err := accounting.Epsilon(mu, r.Delta)
	return sum(epsilon, pure), err
}

// sum returns a sum, rounded up.
func sum(a, b float64) float64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return rounding.Above(a + b)
}

// keep says what keeps the run to what is announced, for one phase of Gaussian noise.
func (r *Run) keep(a *Account) error {
	whole := a.Rounds[len(a.Rounds)-1]
	p := r.Phases[0]
	announced := a.Phases[0].Announced
	if len(r.Phases) > 1 || a.Phases[0].Multiplier == 0 || announced == 0 || announced >= whole.Epsilon {
		return nil
	}
	fits := func(p Phase) bool {
		epsilon, err := r.after([]Phase{p})
		return err == nil && epsilon <= announced
	}
	louder := func(times float64) Phase {
		p := p
		p.NoiseMultiplier, p.Sigma, p.Epsilon = p.Std(r.Delta)*times, 0, 0
		p.CountStd *= times
		return p
	}
	low, high := 1., 2.
	for !fits(louder(high)) {
		if low, high = high, 2*high; high > pld.MaxNoiseMultiplier {
			return fault.New("Epsilon", announced, "is reached by no noise")
		}
	}
	_, high = rounding.Narrow(low, high, 1e-5, func(times float64) bool { return !fits(louder(times)) })
	few := sort.Search(p.Rounds-1, func(rounds int) bool {
		q := p
		q.Rounds = rounds + 1
		return !fits(q)
	})
	a.Keep = &Keep{Epsilon: announced, Times: high, Rounds: few}
	return nil
}
