package threat

import (
	"io"
	"maps"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/internal/text"
	"mafalda/workload"
)

// Pair is what an attacker learns of a victim. Numbers are rounded up: none claims less than was computed. Absent ones
// do not apply.
type Pair struct {
	Victim      string   `json:"victim"`                         // its label
	Distance    *int     `json:"distance,omitempty"`             // hops of its messages to the attacker; absent without a path
	SensSquared *float64 `json:"sens_squared,omitempty"`         // squared sensitivity for gradients of norm 1 and unit noise
	Bound       string   `json:"bound"`                          // what SensSquared is: a Measure, LocalDP, AllPairs or Refined
	Sigma       *float64 `json:"sigma,omitempty"`                // OwnLevel.Sigma of the victim, where nodes have levels of their own
	Infinite    bool     `json:"infinite,omitempty"`             // a gradient is seen without noise
	Mu          *float64 `json:"mu,omitempty"`                   // μ of μ-GDP; absent, as what follows, of Certain
	RDP         *float64 `json:"rdp,omitempty"`                  // Rényi divergence at the order that was asked for
	Epsilon     *float64 `json:"epsilon,omitempty"`              // ε at the δ that was asked for
	By          []string `json:"by,omitempty"`                   // the one of several coalitions that learns most
	Cyffers     *float64 `json:"cyffers_sens_squared,omitempty"` // see CyffersSquared; of FixedInputs

	// The next three are, under PNDP, squared sensitivities of local DP, which holds for every training; of gradients that do
	// not react to models, which holds for no training, where SensSquared is not that; and of the worst answers of the class
	// that were found, which no true bound is below.
	Local           *float64 `json:"ldp_sens_squared,omitempty"`
	WithoutReaction *float64 `json:"without_reaction,omitempty"`
	Worst           *float64 `json:"worst_answer,omitempty"`
	Why             string   `json:"why,omitempty"` // why SensSquared is local DP though there is a class

	// The next four are, under PNDP with networks or absences that are drawn, what SensSquared, Mu, Epsilon and Bound would be
	// for the ones of Report.Drawn alone, as WithoutReaction and Worst are. Those four are then local DP, whatever is drawn.
	DrawnSensSquared *float64 `json:"drawn_sens_squared,omitempty"`
	DrawnMu          *float64 `json:"drawn_mu,omitempty"`
	DrawnEpsilon     *float64 `json:"drawn_epsilon,omitempty"`
	DrawnBound       string   `json:"drawn_bound,omitempty"`
}

// What Pair.Bound says of pairs under PNDP whose gradients may react: local DP, a bound of all victims at once, which
// can be several times too large where a record takes part more than once, and the best one.
const (
	LocalDP  = "local-dp"
	AllPairs = "all-pairs"
	Refined  = "refined"
)

// Report is what one attacker learns of every node: pairs by distance, then in the order of the graph.
type Report struct {
	Attacker  string  `json:"attacker"` // its labels, with commas between them, or "everybody"
	Trust     string  `json:"trust"`
	Algorithm string  `json:"algorithm"`
	HoldsFor  string  `json:"holds_for,omitempty"`        // what Pairs are for: AssessOptions.HoldsFor; for all else Local is
	Local     float64 `json:"ldp_sens_squared,omitempty"` // squared sensitivity of local DP; absent where that is infinite

	LocalMu      *float64 `json:"ldp_mu,omitempty"`      // μ of local DP: of the least private node, where nodes have levels of their own
	LocalEpsilon *float64 `json:"ldp_epsilon,omitempty"` // ε of local DP for Delta
	Delta        float64  `json:"delta,omitempty"`       // the δ of every ε; 0 if no ε was asked for

	Reaction *ReactionReport `json:"reaction,omitempty"` // the class that Pairs are for, if it is one
	Why      string          `json:"why,omitempty"`      // why it is not used for any pair
	Unknown  string          `json:"unknown,omitempty"`  // why no pair has WithoutReaction

	Pairs []Pair `json:"pairs"`

	// Workload is what is trained, if it is more than plain gradient descent on a network that stays. Drawn is the seed
	// of its networks and absences if they are drawn, and DrawnHoldsFor what the pairs' numbers of these alone are for.
	Workload      *workload.Spec `json:"workload_spec,omitempty"`
	Drawn         *uint64        `json:"drawn_by_seed,omitempty"`
	DrawnHoldsFor string         `json:"drawn_holds_for,omitempty"`

	// Unclear: what is seen without noise cannot be told from rounding, and every pair has local DP (ErrUnclear).
	Unclear bool `json:"-"`
}

// NoPath is the distance of pairs without a path.
const NoPath = math.MaxInt32

// hops returns the distance of a pair.
func (p *Pair) hops() int {
	if p.Distance == nil {
		return NoPath
	}
	return *p.Distance
}

// DistanceRow sums up the pairs of one distance.
type DistanceRow struct {
	Distance          int // hops, or NoPath
	Pairs, Infinite   int
	Least, Mean, Most float64  // squared sensitivities of the finite pairs; Least is +Inf without any
	Mu, Epsilon       float64  // the largest of the finite ones; Epsilon is 0 if it was not asked for, both of Certain
	Cyffers           *float64 // mean of Cyffers et al., nil without it

	// The largest of the pairs' numbers of these names, nil where no pair has one: see Pair.
	Local, WithoutReaction, Worst, Drawn, DrawnMu, DrawnEpsilon *float64
}

// NoPath reports whether there is no path between the pairs.
func (r DistanceRow) NoPath() bool { return r.Distance == NoPath }

// ByDistance sums up the pairs of reports, without the pairs of attackers with themselves, from near to far.
func ByDistance(reports []Report) []DistanceRow {
	pairs := map[int][]*Pair{}
	for i := range reports {
		for j := range reports[i].Pairs {
			if p := &reports[i].Pairs[j]; p.hops() > 0 {
				pairs[p.hops()] = append(pairs[p.hops()], p)
			}
		}
	}
	distances := slices.Sorted(maps.Keys(pairs))
	return lists.Map(distances, func(distance int) DistanceRow { return sumUp(distance, pairs[distance]) })
}

func sumUp(distance int, pairs []*Pair) DistanceRow {
	r := DistanceRow{Distance: distance, Pairs: len(pairs), Least: math.Inf(1)}
	var sum, cyffers float64
	compared := 0
	for _, p := range pairs {
		if p.Cyffers != nil {
			cyffers += *p.Cyffers
			compared++
		}
		r.Local, r.Worst = most(r.Local, p.Local), most(r.Worst, p.Worst)
		r.WithoutReaction = most(r.WithoutReaction, p.WithoutReaction)
		r.Drawn, r.DrawnMu = most(r.Drawn, p.DrawnSensSquared), most(r.DrawnMu, p.DrawnMu)
		r.DrawnEpsilon = most(r.DrawnEpsilon, p.DrawnEpsilon)
		if p.SensSquared == nil {
			r.Infinite++
			continue
		}
		sum += *p.SensSquared
		r.Least, r.Most = math.Min(r.Least, *p.SensSquared), math.Max(r.Most, *p.SensSquared)
		if p.Mu != nil {
			r.Mu = math.Max(r.Mu, *p.Mu)
		}
		if p.Epsilon != nil {
			r.Epsilon = math.Max(r.Epsilon, *p.Epsilon)
		}
	}
	r.Mean = sum / float64(max(r.Pairs-r.Infinite, 1))
	if compared > 0 {
		r.Cyffers = new(cyffers / float64(compared))
	}
	return r
}

// most returns the larger of two numbers that may be absent.
func most(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// WritePairs writes a line of CSV a pair, with a header and all digits; squared sensitivities can be inf. Every line
// says what it holds for.
func WritePairs(w io.Writer, reports []Report) error {
	rows := text.NewCSV("attacker,victim,distance,sens_squared,mu,rdp,epsilon,cyffers_sens_squared,ldp_mu,bound," +
		"ldp_sens_squared,without_reaction,worst_answer,holds_for,drawn_by_seed,drawn_sens_squared,drawn_mu," +
		"drawn_epsilon,drawn_holds_for")
	for _, r := range reports {
		for _, p := range r.Pairs {
			var squared any = p.SensSquared
			if p.Infinite {
				squared = "inf"
			}
			localMu := r.LocalMu
			if p.Sigma != nil && r.Local > 0 {
				localMu = new(rounding.DivUp(rounding.SqrtUp(r.Local), *p.Sigma))
			}
			rows.Add(r.Attacker, p.Victim, p.Distance, squared, p.Mu, p.RDP, p.Epsilon, p.Cyffers,
				localMu, p.Bound, p.Local, p.WithoutReaction, p.Worst, r.HoldsFor, r.Drawn, p.DrawnSensSquared, p.DrawnMu,
				p.DrawnEpsilon, r.DrawnHoldsFor)
		}
	}
	return rows.Write(w)
}
