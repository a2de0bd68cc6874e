package figures

import (
	"strconv"

	"mafalda/accounting"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/simulate"
)

// levels are what a study's levels of privacy are called: as they were asked for.
type levels struct {
	epsilons bool // they are ε, of batches that are drawn in secret; else μ
	delta    float64
}

func levelsOf(s *simulate.Study) levels {
	o := s.Options()
	return levels{epsilons: o.Sampling != participation.InTurn, delta: o.Delta}
}

// requestedLevel returns the letter and the number that a level was asked for with: a μ that is the one of a short ε
// was asked for by that ε. It depends on nothing but μ and δ, so that a level has the same name in every run of a
// study.
func (l levels) requestedLevel(level float64) (letter string, value float64) {
	const few = 9 // significant digits; a level that happens to be the μ of so short an ε may as well be called that
	switch {
	case l.epsilons:
		return "epsilon", level
	case rounded(level, few) == level:
		return "mu", level
	}
	epsilon, err := accounting.Epsilon(level, l.delta)
	if err != nil {
		return "mu", level
	}
	short := rounded(epsilon, few)
	if mu, err := accounting.MuFromDP(short, l.delta); err != nil || mu != level {
		return "mu", level
	}
	return "epsilon", short
}

// text is what a picture calls a level.
func (l levels) text(level float64) string {
	letter, value := l.requestedLevel(level)
	if letter == "mu" {
		return "μ = " + printed(value)
	}
	return "ε = " + printed(value)
}

// LossNames returns distinct names of the files of Losses at levels, with four digits, rounded up, or as many as needed.
func LossNames(s *simulate.Study, of []float64) []string { return levelsOf(s).names(of) }

func (l levels) names(of []float64) []string {
	name := func(level float64, digits int) string {
		letter, value := l.requestedLevel(level)
		return "loss-" + letter + strconv.FormatFloat(rounding.Up(value, digits), 'g', -1, 64)
	}
	names := make([]string, len(of))
	for i, level := range of {
		for digits := 4; ; digits++ {
			alike := 0
			for _, other := range of {
				if name(other, digits) == name(level, digits) {
					alike++
				}
			}
			if names[i] = name(level, digits); alike == 1 || digits == 17 {
				break
			}
		}
	}
	return names
}

func rounded(v float64, digits int) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return short
}
