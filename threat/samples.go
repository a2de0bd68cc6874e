package threat

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// samples are random rows: a column a run.
type samples struct {
	rng    *rand.Rand
	runs   int
	scale  float64 // the scale of all noise
	other  float64 // the scale of the scaled nodes' noise, beside that
	scaled []int   // nil: all nodes
	victim int
	change *mat.VecDense // nil: the record takes no part
	drawn  map[[3]int][]float64
}

// oneRun returns the rows of a single run without noise.
func oneRun() *samples {
	return &samples{rng: rand.New(rand.NewPCG(0, 0)), runs: 1, drawn: map[[3]int][]float64{}}
}

func (s *samples) width() int { return s.runs }

func (s *samples) gradient(t, v int) []float64 {
	if v == s.victim && s.change != nil {
		return slices.Repeat([]float64{s.change.AtVec(t)}, s.runs)
	}
	return make([]float64, s.runs)
}

// normal returns the same row whenever it is asked for the same noise.
func (s *samples) normal(kind, t, i int, scale float64) []float64 {
	key := [3]int{kind, t, i}
	row, ok := s.drawn[key]
	if !ok {
		row = make([]float64, s.runs)
		for j := range row {
			row[j] = scale * s.rng.NormFloat64()
		}
		s.drawn[key] = row
	}
	return row
}

func (s *samples) own(t, v int) []float64 {
	if s.scaled != nil && !slices.Contains(s.scaled, v) {
		return s.normal(0, t, v, s.scale)
	}
	return s.normal(0, t, v, s.scale*s.other)
}

func (s *samples) edge(t, e int) []float64    { return s.normal(1, t, e, s.common()) }
func (s *samples) message(t, m int) []float64 { return s.normal(2, t, m, s.common()) }

// common returns the scale of noise that is no single node's own.
func (s *samples) common() float64 {
	if s.scaled != nil {
		return s.scale
	}
	return s.scale * s.other
}
