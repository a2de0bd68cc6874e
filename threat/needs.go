package threat

import (
	"math"
	"runtime"

	"mafalda/threat/reaction"
)

// Needs returns about how many bytes Account takes, with Local before it and the bounds of as many
// victims at a time as there are processors. It is found without allocating anything, for a run to be refused that does
// not fit.
func (s Scenario) Needs() float64 {
	a, nodes, steps := s.Algorithm, float64(s.nodes()), float64(s.steps())
	pattern := math.Min(float64(s.Schema.Participations()), steps)
	if _, listed := s.Schema.(interface{ Patterns() [][]int }); !listed {
		pattern = steps // the bounds are of the whole matrix
	}
	side := math.Min(float64(runtime.GOMAXPROCS(0)), nodes)
	floats := 1.8e7 + steps*steps*(6+side) + 3*pattern*pattern*side
	switch t := a.Training(); {
	case a.dense != nil:
		floats += 4*math.Pow(math.Min(2*nodes*steps*t.rounds(), MaxDirect), 2) + MaxDirect*steps*3 + 6*nodes*steps
	case a.zip:
		floats += 5*nodes*nodes*steps + 3*math.Pow(float64(s.Gossip.NNZ()), 2)
	default:
		state := nodes * float64((&course{spec: t.Spec}).layout(a.filter).size)
		floats += 6*state*state*steps*max(t.rounds(), float64(a.rounds)) + 4*state*nodes
	}
	return 8 * floats
}

// Seconds is about how long Assess takes on one processor, within a factor of ten: attackers of one network hardly differ.
func (s *Study) Seconds(Cell) float64 {
	nodes, steps := float64(s.scenario.nodes()), float64(s.scenario.steps())
	return 3e-9 * nodes * nodes * steps * steps
}

// GrowthSeconds is about how long Growth takes likewise.
func (s *Study) GrowthSeconds(c GrowthCell) float64 {
	nodes, steps := float64(s.scenario.nodes()), float64(c.Steps)
	return 2.5e-8 * nodes * nodes * steps * math.Sqrt(steps)
}

// Memory is about how many bytes Assess takes for these attackers at a time.
func (s *Study) Memory(attackers int) float64 {
	return float64(attackers) * (s.scenario.Needs() + s.options.needs(s.scenario))
}

// needs returns about how many bytes bounds for nodes that react take besides.
func (o AssessOptions) needs(s Scenario) float64 {
	if !o.Reaction.classed() {
		return 0
	}
	state := s.stateOfStands()
	return 8 * (6*float64(s.steps())*float64(s.nodes())*state + 20*state*state)
}

// stateOfStands returns about how many numbers there are in the state of all nodes at most, where package reaction looks at
// strategies with as much memory as it has room for.
func (s Scenario) stateOfStands() float64 {
	nodes, own := float64(s.nodes()), 1.0
	if t := s.Algorithm.training; t != nil {
		own = float64(len(t.Spec.Lone(1, 0).Memory()))
	}
	switch memory := s.Algorithm.memory(s.steps()); {
	case memory == 0:
		return nodes * own
	case nodes*float64(1+memory) <= reaction.MaxExact || memory == 1:
		return nodes * (own + float64(memory))
	}
	return math.Max(nodes*(own+2), nodes*(own-1)+reaction.MaxExact)
}

// memory returns how many rows of noise a node keeps.
func (a Algorithm) memory(steps int) int {
	switch {
	case a.filter != nil:
		return a.filter.Memory()
	case a.dense != nil:
		return steps
	}
	return 0
}

// cheap is how many operations refined bounds may take that are not asked for: some seconds.
const cheap = 2e10

// RefinesFast reports whether it takes seconds to refine what one attacker learns.
func (s Scenario) RefinesFast() bool {
	// a pass backward and one forward for each of three rounds, for every victim and some patterns at worst, and five times
	// that for nodes that keep more than a model
	state := s.stateOfStands()
	nodes, passes := float64(s.nodes()), 4.0
	if state > nodes {
		passes *= 5
	}
	patterns := 1
	if all, listed := patternsOf(s.Schema); listed {
		patterns = min(4, len(all)) // of most patterns single participations show that they are not the worst
	} else if reaction.OneByOne(s.Schema) {
		patterns = 40 // a pass each, and few have more
	}
	return 6*state*state*state*float64(s.steps())*passes*nodes*float64(patterns) <= cheap
}
