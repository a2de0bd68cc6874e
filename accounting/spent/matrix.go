package spent

import (
	"errors"
	"os"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/npy"
	"mafalda/participation"
	"mafalda/strategy"
)

// loadMatrix fills in the growth of a phase whose noise is correlated: rows of C⁻¹Z, where C has at least the phase's rounds.
func (p *Phase) loadMatrix() error {
	if p.Mechanism != "matrix" || p.growth != nil {
		return nil
	}
	c, err := readStrategy(p.Matrix)
	if err != nil {
		return fault.New("Matrix", p.Matrix, "%v", err)
	}
	steps := c.Steps()
	if p.Rounds > steps {
		return fault.New("Rounds", p.Rounds, "must be at most %d, those of the matrix", steps)
	}
	schema, err := participation.NewCyclic(steps, steps, 1)
	switch {
	case p.Separation > 0:
		schema, err = participation.Complete(steps, p.Participations, p.Separation)
	case p.Participations > 0: // evenly over the rounds, which may be fewer than the matrix has
		if schema, err = participation.Complete(p.Rounds, p.Participations, 0); err == nil {
			schema, err = participation.NewCyclic(steps, p.Participations, max(1, p.Rounds/p.Participations))
		}
	}
	if err != nil {
		return fault.New("Participations", p.Participations, "%v", err)
	}
	if p.growth, err = strategy.NewGrowth(c, schema); err != nil {
		return fault.New("Matrix", p.Matrix, "%v", err)
	}
	p.strategy = c
	return nil
}

// Noising returns the rows of C⁻¹ of the phases' rounds, on the diagonal of a matrix over all rounds, with ones where noise is not
// correlated; nil where none is. Check, Read and Account come first.
func (r *Run) Noising() (*mat.Dense, error) {
	rounds, correlated := 0, false
	for _, p := range r.Phases {
		rounds, correlated = rounds+p.Rounds, correlated || p.strategy != nil
	}
	if !correlated {
		return nil, nil
	}
	noising, first := mat.NewDense(rounds, rounds, nil), 0
	for _, p := range r.Phases {
		var inverse mat.TriDense
		if p.strategy != nil {
			if err := p.strategy.NoisingTo(&inverse); err != nil {
				return nil, fault.New("Matrix", p.Matrix, "%v", err)
			}
		}
		for t := range p.Rounds {
			noising.Set(first+t, first+t, 1)
			for s := range t + 1 {
				if p.strategy != nil {
					noising.Set(first+t, first+s, inverse.At(t, s))
				}
			}
		}
		first += p.Rounds
	}
	return noising, nil
}

// readStrategy reads C from a .npy file or the folder of an export.
func readStrategy(path string) (strategy.Strategy, error) {
	if of, err := os.Stat(path); err == nil && of.IsDir() {
		e, err := export.Load(path)
		if err == nil {
			err = e.CheckHashes()
		}
		switch {
		case err != nil:
			return nil, err
		case e.Manifest.PerNode != nil:
			return nil, errors.New("its nodes have matrices of their own: give the .npy of one")
		case e.Shared != nil:
			return nil, errors.New("its nodes share noise: mafalda account knows who learns what")
		}
		return e.SharedStrategy()
	}
	a, err := npy.ReadFile(path)
	switch {
	case err != nil:
		return nil, err
	case len(a.Shape) != 2 || a.Shape[0] == 0 || a.Shape[1] == 0:
		return nil, errors.New("it is no matrix")
	}
	return strategy.NewDense(mat.NewDense(a.Shape[0], a.Shape[1], a.Data))
}
