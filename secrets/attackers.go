package secrets

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Attackers are the coalitions of curious nodes that noise has to withstand, as well as every part of them (Allow). The
// eavesdropper, who has no secret, is always one of them. They are immutable.
type Attackers struct {
	nodes      int
	coalitions [][]int // distinct, ascending nodes each, by size and then by nodes; the first is empty
	weights    []float64
}

// Weighing returns the same attackers where what is learned of node v counts weights[v] times: where nodes have privacy
// levels of their own, [M_A⁻¹]_vv may be 1/weights[v]. The error is another number of weights, or one that is not
// positive and finite.
func (a *Attackers) Weighing(weights []float64) (*Attackers, error) {
	if len(weights) != a.nodes {
		return nil, fault.New("Weights", len(weights), "must be %d, of all nodes", a.nodes)
	}
	for _, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return nil, fault.New("Weights", w, "must be positive and finite")
		}
	}
	weighing := *a
	weighing.weights = slices.Clone(weights)
	return &weighing, nil
}

// Weight returns how much it counts what is learned of a node: 1 unless Weighing says otherwise.
func (a *Attackers) Weight(node int) float64 {
	if a.weights == nil {
		return 1
	}
	return a.weights[node]
}

// Colluding returns all coalitions of at most size of n nodes, and with them the eavesdropper: with a size of one
// every single node is curious, and none talks to another. Coalitions of all nodes are left out: no node is left
// to protect. The error is a size that is negative, or of more than MostCoalitions coalitions.
func Colluding(nodes, size int) (*Attackers, error) {
	if nodes < 1 || size < 0 {
		return nil, fault.New("Coalitions", size, "must not be negative, of at least one node")
	}
	size = min(size, nodes-1)
	if count := coalitions(nodes, size); count > MostCoalitions {
		return nil, fault.New("Coalitions", size, "is too large for %d nodes: at most %d coalitions", nodes, MostCoalitions)
	}
	var all [][]int
	for c := range size + 1 {
		all = append(all, combin.Combinations(nodes, c)...)
	}
	return &Attackers{nodes: nodes, coalitions: all}, nil
}

// MostCoalitions bounds the number of coalitions: each costs an inverse.
const MostCoalitions = 1 << 20

// coalitions returns the number of sets of at most size of n nodes, or a number above MostCoalitions.
func coalitions(nodes, size int) int {
	count, sets := 1, 1
	for k := range size {
		sets = sets * (nodes - k) / (k + 1)
		if count += sets; count > MostCoalitions {
			break
		}
	}
	return count
}

// NewAttackers returns the eavesdropper and these coalitions of n nodes, which are copied. Coalitions that are there
// twice count once. The errors are nodes out of range, nodes twice in a coalition, and a coalition of all nodes.
func NewAttackers(nodes int, list [][]int) (*Attackers, error) {
	if nodes < 1 {
		return nil, fault.New("Nodes", nodes, "must be at least 1")
	}
	if len(list) > MostCoalitions {
		return nil, fault.New("Coalitions", len(list), "are too many: at most %d", MostCoalitions)
	}
	all := [][]int{{}}
	for _, c := range list {
		sorted := slices.Sorted(slices.Values(c))
		for i, v := range sorted {
			switch {
			case v < 0 || v >= nodes:
				return nil, fmt.Errorf("coalition with node %d of %d", v, nodes)
			case i > 0 && v == sorted[i-1]:
				return nil, fmt.Errorf("coalition with node %d twice", v)
			}
		}
		if len(sorted) == nodes {
			return nil, fmt.Errorf("a coalition of all %d nodes: there is nobody left to protect", nodes)
		}
		all = append(all, sorted)
	}
	slices.SortFunc(all, compareCoalitions)
	return &Attackers{nodes: nodes, coalitions: slices.CompactFunc(all, slices.Equal)}, nil
}

func compareCoalitions(a, b []int) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare(a, b)
}

// Nodes returns the number of nodes, n.
func (a *Attackers) Nodes() int { return a.nodes }

// Coalitions returns all coalitions, by size; the first is the empty one, the eavesdropper. The slices must not be
// changed.
func (a *Attackers) Coalitions() [][]int { return a.coalitions }

// Largest returns the size of the largest coalition.
func (a *Attackers) Largest() int { return len(a.coalitions[len(a.coalitions)-1]) }

// Colluding returns the largest c such that all coalitions of c nodes are attackers.
func (a *Attackers) Colluding() int {
	sizes := map[int]int{}
	for _, c := range a.coalitions {
		sizes[len(c)]++
	}
	c, sets := 0, 1
	for sets = a.nodes; c+1 < a.nodes && sizes[c+1] == sets; sets = sets * (a.nodes - c) / (c + 1) {
		c++
	}
	return c
}

// Allow reports whether the noise has to withstand a coalition: it is an attacker, or within one.
func (a *Attackers) Allow(coalition []int) bool {
	return slices.ContainsFunc(a.coalitions, func(c []int) bool {
		return !slices.ContainsFunc(coalition, func(v int) bool { return !slices.Contains(c, v) })
	})
}

// Threat is an attacker, and those whom no larger attacker threatens more.
type Threat struct {
	Attacker []int // ascending; empty: the eavesdropper
	Victims  []int // ascending, outside of Attacker, never none
}

// Threats returns what has to be checked: a coalition within another one learns no more of a victim than that. A part
// of a coalition attacks the rest of it, too (Allow): the most that a member has to fear are all others of it. Every
// pair of an allowed coalition and a node outside of it is one of these, or less than one of them.
func (a *Attackers) Threats() []Threat {
	candidates := slices.Clone(a.coalitions)
	with := make([][][]int, a.nodes) // of every node: the coalitions that it is in
	for _, c := range a.coalitions {
		for i, v := range c {
			with[v] = append(with[v], c)
			candidates = append(candidates, slices.Delete(slices.Clone(c), i, i+1))
		}
	}
	slices.SortFunc(candidates, compareCoalitions)
	var all []Threat
	for _, attacker := range slices.CompactFunc(candidates, slices.Equal) {
		near := a.coalitions // all that can hold the attacker
		for _, v := range attacker {
			if len(with[v]) < len(near) {
				near = with[v]
			}
		}
		if victims := a.threatened(attacker, near); len(victims) > 0 {
			all = append(all, Threat{attacker, victims})
		}
	}
	return all
}

// threatened returns the nodes that no more nodes of one of these coalitions attack together than the attacker, whose nodes
// are among them.
func (a *Attackers) threatened(attacker []int, coalitions [][]int) []int {
	victims := slices.DeleteFunc(lists.UpTo(a.nodes), func(v int) bool { return slices.Contains(attacker, v) })
	for _, c := range coalitions {
		without := func(v int) bool { return !slices.Contains(c, v) }
		switch more := len(c) - len(attacker); {
		case more <= 0 || slices.ContainsFunc(attacker, without):
		case more > 1: // more than the attacker, also without the victim
			return nil
		default:
			victims = slices.DeleteFunc(victims, without)
		}
	}
	return victims
}

// setOf returns, for every node, whether a list has it.
func setOf(nodes int, list []int) []bool {
	set := make([]bool, nodes)
	for _, v := range list {
		set[v] = true
	}
	return set
}

func indices(set []bool) []int {
	var all []int
	for v, in := range set {
		if in {
			all = append(all, v)
		}
	}
	return all
}
