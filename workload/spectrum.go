package workload

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Spectrum is a curvature as users and manifests name it: second derivatives of the loss, and what is to be small.
type Spectrum struct {
	Risk       string    `json:"risk" verify:"given; network" in:"excess distance worst"` // ExcessRisk or Distance
	X          []float64 `json:"x" verify:"given; network" in:"[0,)"`                     // second derivatives times the base learning rate
	Directions []float64 `json:"directions" verify:"given; network" in:"[0,)"`            // directions with each X; weights with WorstRatio
}

const (
	// ExcessRisk weighs squared errors by the second derivative: twice how far the loss is above its least value, in
	// units of the base learning rate.
	ExcessRisk = "excess"
	// Distance is the squared distance of the models, as without a curvature.
	Distance = "distance"
	// WorstRatio is for a single second derivative, one of X but unknown which: the largest loss, over the least that
	// a strategy made for it has.
	WorstRatio = "worst"
)

// Risks returns the names of what may be small.
func Risks() []string { return []string{ExcessRisk, Distance, WorstRatio} }

// Unknown reports whether the loss has a single second derivative, unknown which.
func (s *Spectrum) Unknown() bool { return s != nil && s.Risk == WorstRatio }

// Interval returns the spectrum of a loss with a single second derivative, which is one of eight, unknown which: these lie from low
// to high, each the same multiple of the one before. If low is 0, the first one is 0 and the others lie from high/1000 to high.
func Interval(low, high float64) *Spectrum {
	const points = 8
	s := &Spectrum{Risk: WorstRatio}
	from := low
	if low == 0 {
		s.X, from = []float64{0}, high/1000
	}
	for i, n := 0, points-len(s.X); i < n; i++ {
		s.X = append(s.X, from*math.Pow(high/from, float64(i)/float64(n-1)))
	}
	s.Directions = slices.Repeat([]float64{1}, points)
	return s
}

// Curvature returns the directions with their weights; nil for no spectrum.
func (s *Spectrum) Curvature() Curvature {
	if s == nil {
		return nil
	}
	return lists.Make(len(s.X), func(i int) Direction {
		d := Direction{s.X[i], s.Directions[i]}
		if s.Risk == ExcessRisk {
			d.Weight *= d.X
		}
		return d
	})
}

// Check rejects an unknown risk, lists of different or no length, and numbers that are negative or not finite. The
// errors are fault.Arguments of Risk and Curvature; nil is fine.
func (s *Spectrum) Check() error {
	switch {
	case s == nil:
		return nil
	case !slices.Contains(Risks(), s.Risk):
		return fault.New("Risk", s.Risk, "is unknown; use %s", strings.Join(Risks(), " or "))
	case len(s.X) == 0 || len(s.X) != len(s.Directions) || len(s.X) > MaxDirections:
		return fault.New("Curvature", nil, "needs one to %d second derivatives, with as many numbers of directions", MaxDirections)
	}
	for i, x := range s.X {
		if !(x >= 0 && s.Directions[i] >= 0) || math.IsInf(x+s.Directions[i], 1) {
			return fault.New("Curvature", x, "second derivatives and numbers of directions must be finite and not negative")
		}
	}
	return s.Curvature().check()
}

// String returns the numbers, the same for the same spectrum alone.
func (s *Spectrum) String() string {
	if s == nil {
		return ""
	}
	if s.Unknown() {
		return fmt.Sprint(s.Risk, s.X)
	}
	return fmt.Sprint(s.Risk, s.X, s.Directions)
}

// ReadSpectrum reads lines of a second derivative and how many directions have it, separated by a comma, a semicolon, a
// tab or spaces; 1 where that is missing. Empty lines, lines that begin with # and a first line of words are skipped. The
// errors name the line.
func ReadSpectrum(r io.Reader, risk string) (*Spectrum, error) {
	s := &Spectrum{Risk: risk}
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimPrefix(strings.TrimSpace(scanner.Text()), "\ufeff")
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; \t", r) })
		if len(words) == 0 || strings.HasPrefix(text, "#") {
			continue
		}
		x, err := strconv.ParseFloat(words[0], 64)
		if err != nil && len(s.X) == 0 && line == 1 {
			continue
		}
		count := 1.0
		if err == nil && len(words) == 2 {
			count, err = strconv.ParseFloat(words[1], 64)
		}
		if err != nil || len(words) > 2 {
			return nil, fmt.Errorf("line %d: %q is not a second derivative and a number of directions", line, text)
		}
		if len(s.X) == MaxDirections {
			return nil, fmt.Errorf("line %d: more than %d second derivatives", line, MaxDirections)
		}
		s.X, s.Directions = append(s.X, x), append(s.Directions, count)
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	return s, s.Check()
}
