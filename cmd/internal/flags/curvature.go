package flags

import (
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/workload"
)

// CurvatureFlags say how gradients react to errors: a workload.Spectrum.
type CurvatureFlags struct{ curvature, risk string }

// Choose returns the spectrum that the flags ask for; nil for none.
func (f *CurvatureFlags) Choose(cmd *cobra.Command) (*workload.Spectrum, error) {
	if !cmd.Flags().Changed("curvature") {
		return nil, nil
	}
	if low, high, is := strings.Cut(f.curvature, ".."); is {
		a, wrong := strconv.ParseFloat(low, 64)
		b, err := strconv.ParseFloat(high, 64)
		if err = errors.Join(wrong, err); err != nil || !(0 <= a && a < b) || math.IsInf(b, 1) {
			return nil, terminal.Usagef("--curvature %s is no interval, as 0.001..0.9", f.curvature)
		}
		return workload.Interval(a, b), terminal.Refuse(cmd, "--curvature of an interval is for the worst ratio: leave out --%s", "risk")
	}
	if s, ok := numbers(f.curvature, f.risk); ok {
		return s, errors.Join(s.Check(), f.uncounted(s))
	}
	file, _, err := files.Open(f.curvature)
	if errors.Is(err, os.ErrNotExist) {
		return nil, terminal.Usagef("--curvature %s is neither a file nor numbers, as 0.3 or 0.01,0.1,0.5", f.curvature)
	}
	if err != nil {
		return nil, terminal.Usagef("--curvature: %w", err)
	}
	defer file.Close()
	s, err := workload.ReadSpectrum(file, f.risk)
	if err != nil {
		return nil, terminal.Usagef("--curvature: %s: %w", f.curvature, err)
	}
	return s, f.uncounted(s)
}

// uncounted rejects numbers of directions where every second derivative is looked at alone.
func (f *CurvatureFlags) uncounted(s *workload.Spectrum) error {
	if s.Unknown() && slices.ContainsFunc(s.Directions, func(d float64) bool { return d != 1 }) {
		return terminal.Usagef("--risk worst looks at every second derivative alone: --curvature without numbers of directions")
	}
	return nil
}

// numbers returns the spectrum of a list of second derivatives, each with its number of directions behind a colon, or 1.
func numbers(text, risk string) (*workload.Spectrum, bool) {
	s := &workload.Spectrum{Risk: risk}
	for word := range strings.SplitSeq(text, ",") {
		number, times, several := strings.Cut(strings.TrimSpace(word), ":")
		x, err := strconv.ParseFloat(number, 64)
		count := 1.
		if several && err == nil {
			count, err = strconv.ParseFloat(times, 64)
		}
		if err != nil {
			return nil, false
		}
		s.X, s.Directions = append(s.X, x), append(s.Directions, count)
	}
	return s, true
}

// reacting is what the page curvature says.
type reacting struct {
	Least, Most float64
	Risk        string
}

var curvaturePage = document.Page[reacting](factPages, "curvature")

// CurvatureFacts says how gradients react, if they do.
func CurvatureFacts(s *workload.Spectrum) []document.Fact {
	if s == nil {
		return nil
	}
	return facts(curvaturePage(reacting{slices.Min(s.X), slices.Max(s.X), s.Risk}))
}
