package pld

import (
	"cmp"
	"math"

	"mafalda/accounting"
	"mafalda/internal/rounding"
)

// A Source is what proves an upper bound of the ε of a Distribution.
type Source string

// The sources. All but Losses are looser, and there for what no grid of losses can hold.
const (
	Losses     Source = "losses"       // the distribution of the privacy loss, on a grid
	Draws      Source = "draws"        // how often a record is drawn, as if the attacker saw it
	Renyi      Source = "renyi"        // Rényi divergences of the rounds
	Jumps      Source = "rare jumps"   // large single losses as lost, and two moments of all others
	Removed    Source = "removed"      // a removed record, and the most that an added one can show beside
	EveryRound Source = "every round"  // the same noise with every record in every round
	OneRound   Source = "one round"    // the formula for a single round, which is exact
	NoSampling Source = "no sampling"  // the formula for noise alone, which is exact
	Nothing    Source = "nothing told" // all rounds tell of a record with a probability of at most δ: ε is 0
)

// abouts are the sources in a few words.
var abouts = map[Source]string{
	Losses:     "the distribution of the privacy loss, on a grid",
	Draws:      "how often a record is drawn, as if attackers saw it: a fallback",
	Renyi:      "Rényi divergences of the rounds: a fallback",
	Jumps:      "the chance of one large loss, and two moments of all others: a fallback",
	Removed:    "what a removed record shows, and the most that an added one can show: a fallback",
	EveryRound: "the same noise with every record in every round: a fallback",
	OneRound:   "the formula for a single round",
	NoSampling: "the formula for noise without sampling",
	Nothing:    "rounds that together tell of a record with a probability of at most delta",
}

// About says in a few words what proves the bound.
func (s Source) About() string { return cmp.Or(abouts[s], string(s)) }

// EpsilonBounds are bounds of the smallest ε for which events are (ε, δ)-DP.
type EpsilonBounds struct {
	Upper float64 // an ε that holds
	Lower float64 // it does not hold, or is 0 where nothing more is known
	By    Source  // of Upper
}

// Accurate reports whether the bounds differ by no more than 0.2 % of the upper one.
func (b EpsilonBounds) Accurate() bool { return b.Upper-b.Lower <= 2e-3*b.Upper }

// improved returns bounds that are the better ones of those given and of the formulas of this package, without a grid
// but for replaced records.
func (d *Distribution) improved(b EpsilonBounds, delta float64) EpsilonBounds {
	return d.byFormulas(b, delta).or(EpsilonBounds{d.removedEpsilon(delta), 0, Removed})
}

// byFormulas returns bounds that are the better ones of those given and of the formulas of this file and of jumps.go.
func (d *Distribution) byFormulas(b EpsilonBounds, delta float64) EpsilonBounds {
	return b.or(EpsilonBounds{d.drawsEpsilon(delta), 0, Draws}).or(EpsilonBounds{d.renyiEpsilon(delta), 0, Renyi}).
		or(EpsilonBounds{d.jumpsEpsilon(delta), 0, Jumps})
}

// or returns the bounds with the other's upper one, if it is less.
func (b EpsilonBounds) or(other EpsilonBounds) EpsilonBounds {
	if other.Upper < b.Upper {
		b.Upper, b.By = other.Upper, other.By
	}
	b.Lower = math.Min(b.Lower, b.Upper)
	return b
}

// drawsEpsilon bounds ε by the number J of rounds that draw the record, for rounds that are all alike: δ(ε) is convex
// in a mixture over which rounds these are, of a removed as of an added record, and J of them are √J/s-GDP. So for
// every j
//
//	δ(ε) ≤ P(J > j) + P(J > 0)·δ_Gauss(√j/s, ε),
//
// with Chernoff's bound of the first probability and Nq for the second. It is +Inf where that proves nothing.
func (d *Distribution) drawsEpsilon(delta float64) float64 {
	if len(d.events) != 1 {
		return math.Inf(1)
	}
	e := d.events[0]
	n, q := float64(e.Rounds), e.Probability
	if q == 1 {
		return math.Inf(1)
	}
	// log P(J ≥ j) ≤ -n·KL(j/n ‖ q) for j ≥ nq, rounded up
	logTail := func(j float64) float64 {
		if j <= n*q {
			return 0
		}
		if j > n {
			return math.Inf(-1)
		}
		first, second := j*math.Log(j/(n*q)), 0.0
		if j < n {
			second = (n - j) * (math.Log1p(-j/n) - math.Log1p(-q))
		}
		return math.Min(0, -(first+second)+1e-13*(math.Abs(first)+math.Abs(second)+j))
	}
	half := rounding.Log(delta) - math.Ln2
	low, high := 0.0, n // the least number of draws that is exceeded with a probability of at most δ/2
	for high-low > 1 {
		if middle := math.Floor((low + high) / 2); logTail(middle+1) <= half {
			high = middle
		} else {
			low = middle
		}
	}
	share := rounding.Log(delta) - math.Ln2 - math.Log(math.Min(1, n*q)) - 1e-12
	if share >= 0 {
		return 0
	}
	within := math.Nextafter(math.Exp(share)*(1-1e-12), 0) // of δ, for the Gaussian mechanism
	mu := d.apart() * math.Sqrt(high) / e.NoiseMultiplier * (1 + 0x1p-50)
	if !(within > 0) || !(mu > 0) {
		return math.Inf(1)
	}
	epsilon, err := accounting.Epsilon(mu, within)
	if err != nil {
		return math.Inf(1)
	}
	return epsilon
}

// renyiEpsilon bounds ε by the Rényi divergences of whole orders α, which have a closed form for a removed record:
//
//	E_Q (P/Q)^α = 1 + Σ_{k≥2} C(α,k) (1-q)^{α-k} q^k (e^{k(k-1)/(2s²)} - 1),
//
// and of an added one are no larger (Mironov, Talwar & Zhang, "Rényi Differential Privacy of the Sampled Gaussian
// Mechanism", 2019, Theorem 5 and Section 3.3).
//
// There is no such form here for a replaced record: it is +Inf.
func (d *Distribution) renyiEpsilon(delta float64) float64 {
	if d.replace {
		return math.Inf(1)
	}
	best := math.Inf(1)
	for alpha := 2; alpha <= mostOrder; alpha += max(1, alpha/8-15) {
		var log rounding.Sum
		for _, e := range d.events {
			log.AddProduct(float64(e.Rounds), e.logMoment(alpha))
		}
		rho := log.Up() / float64(alpha-1) * (1 + 0x1p-50)
		if math.IsInf(rho, 1) || math.IsNaN(rho) {
			break
		}
		if epsilon, err := accounting.EpsilonFromRDP(float64(alpha), rho, delta); err == nil {
			best = math.Min(best, epsilon)
		}
	}
	return best
}

// Rényi divergences are looked at up to an order, each from a number of terms at most.
const (
	mostOrder = 1 << 30
	mostTerms = 1 << 13
)

// logMoment returns log E_Q (P/Q)^α of a round, rounded up; +Inf where that takes too many terms.
//
// A term is at most r = q/(1-q)·(α-k)/(k-1)·e^{α/s²} times the one before, k, since (e^y - 1)/(e^x - 1) ≤ y/x·e^{y-x}
// for y ≥ x > 0, and r falls with k: once it is at most 1/2 all further terms together are at most 2r times the last
// one.
func (e Mechanism) logMoment(alpha int) float64 {
	q, a := e.Probability, float64(alpha)
	if q == 1 {
		return a * (a - 1) / (2 * e.NoiseMultiplier * e.NoiseMultiplier) * (1 + 0x1p-49)
	}
	all, _ := math.Lgamma(a + 1)
	sum, shift := 0.0, math.Inf(-1)
	var logs []float64
	grown := q / (1 - q) * math.Exp(a/(e.NoiseMultiplier*e.NoiseMultiplier))
	for k := 2.0; k <= a; k++ {
		if k > mostTerms {
			return math.Inf(1)
		}
		chosen, _ := math.Lgamma(k + 1)
		others, _ := math.Lgamma(a - k + 1)
		excess := k * (k - 1) / (2 * e.NoiseMultiplier * e.NoiseMultiplier)
		logExcess := excess + math.Log1p(-math.Exp(-excess))
		if excess < 1 {
			logExcess = math.Log(math.Expm1(excess))
		}
		drawn, not := k*math.Log(q), (a-k)*math.Log1p(-q)
		l := all - chosen - others + drawn + not + logExcess
		l += 64 * 0x1p-53 * (all + chosen + others - drawn - not + math.Abs(logExcess) + 1) // each is off by a few ulp
		logs, shift = append(logs, l), math.Max(shift, l)
		if r := grown * (a - k) / (k - 1); r > 0 && r <= 0.5 {
			if rest := l + math.Log(2*r); rest < shift-40 {
				logs = append(logs, rest)
				break
			}
		}
	}
	for _, l := range logs {
		sum += math.Exp(l - shift)
	}
	total := shift + math.Log(sum) + 1e-12 // log of what is beyond 1
	if total > 0 {
		return total + math.Log1p(math.Exp(-total)) + 1e-12*(1+total)
	}
	return math.Log1p(math.Exp(total)) * (1 + 1e-12)
}

// oneRoundEpsilon returns bounds of the ε of a single round by a formula, within rounding: with e^ε = 1-q+q·e^ε' the
// δ of a removed record at ε is q times the Gaussian mechanism's δ at ε' (Balle, Barthe & Gaboardi, "Privacy
// Amplification by Subsampling", 2018, Theorem 8). That of an added one is no larger: it is c times the Gaussian's
// for e^ε·q/c, where c = q(1-(1-q)(e^ε'-1)) ≤ q and e^ε·q/c ≥ e^ε'. The bounds are +Inf and 0 of more than one round.
func (d *Distribution) oneRoundEpsilon(delta float64) (upper, lower float64) {
	if d.rounds != 1 || d.replace {
		return math.Inf(1), 0
	}
	q, s := d.events[0].Probability, d.events[0].NoiseMultiplier
	share := delta / q
	if !(share < 1) {
		return 0, 0
	}
	mu := rounding.DivUp(1, s)
	most, err := accounting.Epsilon(mu, share*(1-0x1p-50))
	if err != nil {
		return math.Inf(1), 0
	}
	amplified := func(epsilon float64) float64 {
		if epsilon > 600 {
			return epsilon + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-epsilon))
		}
		return math.Log1p(q * math.Expm1(epsilon))
	}
	least := lowerEpsilon(mu, most, math.Min(1, share*(1+0x1p-50)))
	return amplified(most) * (1 + 1e-12), math.Max(0, amplified(least)*(1-1e-12))
}
