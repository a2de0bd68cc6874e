package averaging

import (
	"encoding/json"
	"math"
	"strconv"

	"mafalda/simulated"
)

// Run is the head of a result: what was averaged, and how far it came.
type Run struct {
	simulated.Mark
	Protocol string    `json:"protocol"`
	Graph    string    `json:"graph"`
	Nodes    int       `json:"nodes"`
	Edges    int       `json:"edges"`
	Gossip   string    `json:"gossip"`
	ValueStd float64   `json:"value_std"`
	NoiseStd float64   `json:"noise_std"`
	Seed     uint64    `json:"seed"`
	Mean     float64   `json:"mean"`
	Rounds   int       `json:"rounds"`
	Errors   []float64 `json:"errors"`         // ‖v(t) - mean‖₂ of every round
	UpTo     *int      `json:"leakage_rounds"` // observers see the messages of the rounds 0 to this one; null: for ever
}

// Head describes a run of a problem with noise of this standard deviation, before its first round.
func (p *Problem) Head(protocol string, noiseStd float64) Run {
	n := p.Network
	return Run{Mark: simulated.Revealing(), Protocol: protocol, Graph: n.Origin.Source, Nodes: n.Graph.Nodes(),
		Edges: n.Graph.Edges(), Gossip: n.Origin.Gossip, ValueStd: p.ValueStd, NoiseStd: noiseStd, Seed: p.Seed,
		UpTo: p.Rounds}
}

// Ran says what came of it: the average, and the distance of the nodes from it in every round.
func (r *Run) Ran(run *Trace) {
	r.Mean, r.Errors, r.Rounds = run.Mean, run.Errors(), len(run.Values)-1
}

// Nats is mutual information; in JSON an infinite one is the string "inf".
type Nats float64

// MarshalJSON writes a number, or "inf".
func (v Nats) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(v), 1) {
		return []byte(`"inf"`), nil
	}
	return strconv.AppendFloat(nil, float64(v), 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Nats) UnmarshalJSON(text []byte) error {
	if string(text) == `"inf"` {
		*v = Nats(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}
