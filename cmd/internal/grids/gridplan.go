package grids

import "mafalda/study"

// GridPlan says what is left to do for the shards of a grid. A command line with a shard that is run for a plan
// (Runner.Plan) reads all of its input and looks at the folder, but computes and writes nothing: it fills in the plan for
// as many shards as its own part says.
type GridPlan struct {
	Processors int // processors of a shard, which Memory is for

	Dir     string
	Command []string  // command of the grid, without part and folder
	Cells   int       // number of all cells
	Missing []int     // cells without a result, by shard, the first one 0
	Seconds []float64 // rough time that they take on one processor, by shard; 0 where that is not known
	Memory  float64   // rough number of bytes that a shard needs; 0 where that is not known
	Open    bool      // more cells follow, which depend on what is missing
	Quiet   bool      // nothing but errors is to be said
	JSON    bool      // the result is printed as JSON
}

// Left returns how many cells have no result.
func (p *GridPlan) Left() int {
	left := 0
	for _, n := range p.Missing {
		left += n
	}
	return left
}

// Shards returns those, counted from 1, with something to do.
func (p *GridPlan) Shards() []int {
	var all []int
	for i, n := range p.Missing {
		if n > 0 || p.Open {
			all = append(all, i+1)
		}
	}
	return all
}

// planGrid fills in a plan.
func planGrid[C, R any](p *GridPlan, s Study[C, R], store *study.Store[C, R]) error {
	of := s.Shard.shard.Of
	p.Dir, p.Command, p.Cells = s.Dir, s.Shard.command, len(s.Cells)
	p.Quiet, p.JSON = s.Shard.quiet, s.Shard.json
	if s.Memory != nil {
		p.Memory = s.Memory(p.Processors)
	}
	p.Missing, p.Seconds = make([]int, of), make([]float64, of)
	costs := s.costs()
	for i, shard := range study.Deal(costs, of) {
		_, there, err := store.Get(s.Cells[i])
		switch {
		case err != nil:
			return StudyError(err)
		case there:
			continue
		}
		p.Missing[shard-1]++
		if s.Cost != nil {
			p.Seconds[shard-1] += costs[i]
		}
	}
	return nil
}
