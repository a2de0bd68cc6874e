package plan

import (
	"errors"
	"os"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/strategy"
)

// start returns the X to start from; nil where there is none to be had.
func (s *job) start(kept *checkpoints) (*mat.SymDense, error) {
	o := s.Options
	switch {
	case o.StartFrom != "":
		return startFrom(o.StartFrom, s.schema().Steps())
	case o.Resume:
		x, _, err := s.resumed(kept)
		if x == nil || err != nil {
			return nil, err
		}
		return mat.NewSymDense(s.schema().Steps(), x), nil
	}
	return o.Start, nil
}

// resumed returns what is in the checkpoint; nil if there is none.
func (s *job) resumed(kept *checkpoints) ([]float64, checkpointHeader, error) {
	numbers, header, err := kept.read()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, header, nil
	case err != nil:
		return nil, header, fault.Because("Checkpoint", err)
	}
	s.note(false, "going on after %d iterations, from %s", header.Iterations, s.Options.Checkpoint)
	return numbers, header, nil
}

// startFrom returns CᵀC of the strategy of an export, of its first node if there are several.
func startFrom(dir string, steps int) (*mat.SymDense, error) {
	e, err := export.Load(dir)
	if err == nil {
		err = e.CheckHashes()
	}
	if err != nil {
		return nil, fault.Because("StartFrom", err)
	}
	if e.Manifest.Steps != steps {
		return nil, fault.New("StartFrom", dir, "[StartFrom] %s has T = %d steps, not %d", dir, e.Manifest.Steps, steps)
	}
	c, err := e.NodeStrategy(0)
	if err != nil {
		return nil, fault.Because("StartFrom", err)
	}
	return strategy.GramOf(c), nil
}
