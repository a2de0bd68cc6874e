package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/rounding"
)

// average is the section of private averaging. What nodes keep to themselves is not in it.
func (s *Section) average(from *Source) error {
	a := from.Average
	s.Lead = "Nodes averaged one private value each."
	s.warn("simulated, not private: the noise comes from a seed")
	s.ask("protocol", "%s", cmp.Or(a.Protocol, "all, compared"))
	s.ask("graph", "%s: %d nodes, %d edges", a.Graph, a.Nodes, a.Edges)
	for _, f := range []Field{{"gossip", a.Gossip}, {"seed", fmt.Sprint(a.Seed)}} {
		if f.Value != "" {
			s.Asked = append(s.Asked, f)
		}
	}
	s.ask("values", "standard deviation %s", plain(a.ValueStd))
	if a.NoiseStd > 0 {
		s.ask("noise", "standard deviation %s", plain(a.NoiseStd))
	}
	if a.Mu != nil {
		s.Certified = append(s.Certified, fmt.Sprintf("Against everybody, with all messages, for ever: μ = %s-GDP, ε = %s for "+
			"δ = %g.", textUp(*a.Mu), upOr(a.Epsilon, "–"), a.Delta))
	}
	if n := len(a.Recovered); n > 0 {
		s.warn("%d values were recovered exactly, without breaking any rule of the protocol", n)
	}
	s.NotCovered = []string{"observers that put together what they see, unless they were asked about",
		"values that are not Gaussian: leakages in nats are for Gaussian ones"}
	if len(a.Pairs) > 0 {
		return s.leakages(a)
	}
	return nil
}

// leakages are the table and the map of what observers learn.
func (s *Section) leakages(a *Average) (placed error) {
	const shown = 20
	type pair struct {
		observer, victim string
		nats             float64
	}
	var pairs []pair
	m := &Map{ID: s.ID, Kind: "average", Note: "Nodes are on a circle: the folder does not have the edges."}
	at := map[string]int{}
	for _, p := range a.Pairs {
		nats, finite := p.Leakage.(float64)
		if !finite {
			nats = math.Inf(1)
		}
		pairs = append(pairs, pair{p.Observer, p.Victim, nats})
		if _, known := at[p.Victim]; !known {
			at[p.Victim] = 0
			m.Labels = append(m.Labels, p.Victim)
		}
	}
	m.sort(at)
	byObserver := map[string]int{}
	for _, p := range pairs {
		i, known := byObserver[p.observer]
		if !known {
			i = len(m.Attackers)
			byObserver[p.observer] = i
			of := Attacker{Name: p.observer, Self: []int{}, Nats: make([]float64, len(m.Labels))}
			if self, there := at[p.observer]; there {
				of.Self = append(of.Self, self)
			}
			m.Attackers = append(m.Attackers, of)
		}
		m.Attackers[i].Nats[at[p.victim]] = -1
		if !math.IsInf(p.nats, 1) {
			m.Attackers[i].Nats[at[p.victim]] = rounding.Up(p.nats, 4)
		}
	}
	if len(m.Labels) <= mostNodes && len(pairs) <= mostPairs {
		s.Map = m
		placed = m.place()
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(y.nats, x.nats) })
	t := Table{Caption: fmt.Sprintf("Who learns most: %d of %d pairs", min(shown, len(pairs)), len(pairs)),
		Header: []string{"observer", "victim", "leakage (nats)"}, Words: 2}
	for _, p := range pairs[:min(shown, len(pairs))] {
		t.Rows = append(t.Rows, []string{p.observer, p.victim, textUp(p.nats)})
	}
	s.Tables = append(s.Tables, t)
	return placed
}
