package ppac

import (
	"math"

	"mafalda/protocols/averaging"
)

// Result says what a run of PPAC leaks, as plain data.
type Result struct {
	averaging.Run
	Floor     float64        `json:"floor"` // what the average itself says of a value
	Worst     averaging.Nats `json:"worst_leakage"`
	MeanLeak  float64        `json:"mean_finite_leakage"`
	Infinite  int            `json:"infinite_pairs"`
	Pairs     []PairLeakage  `json:"pairs"`
	Leaves    []Leaf         `json:"generalized_leaves"`
	Recovered []Recovered    `json:"recovered"` // the attack, carried out on this run
	Chosen    []Chosen       `json:"chosen"`
}

// PairLeakage is what an observer learns of a victim.
type PairLeakage struct {
	Observer string         `json:"observer"` // label of the observer; of colluding ones all labels, separated by commas
	Victim   string         `json:"victim"`
	Leakage  averaging.Nats `json:"leakage"`
	Limit    averaging.Nats `json:"limit"` // leakage that is left however much noise there is, at most
}

// Leaf is a generalized leaf.
type Leaf struct {
	Head string `json:"head"`
	Tail string `json:"tail"`
}

// Recovered is a value that the attack has computed, beside what it is.
type Recovered struct {
	Observer  string  `json:"observer"`
	Victim    string  `json:"victim"`
	Value     float64 `json:"value"`
	Recovered float64 `json:"recovered"`
}

// Chosen is the neighbour m_i that completes a node's fragments.
type Chosen struct {
	Node      string `json:"node"`
	Neighbour string `json:"neighbour"`
}

// WorstFinite returns the largest leakage of a pair that is finite, in nats.
func (r *Result) WorstFinite() float64 {
	worst := 0.0
	for _, p := range r.Pairs {
		if v := float64(p.Leakage); !math.IsInf(v, 1) {
			worst = max(worst, v)
		}
	}
	return worst
}
