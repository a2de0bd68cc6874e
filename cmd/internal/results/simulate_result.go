package results

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mafalda/accounting/sampling"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/study"
)

// Simulating is the study's Do: bar says where it is, and note hears of runs that diverged.
func Simulating(s *simulate.Study, bar *terminal.Progress,
	note func(...string)) func(context.Context, simulate.Cell) (simulate.Result, error) {
	return func(ctx context.Context, c simulate.Cell) (simulate.Result, error) {
		at := fmt.Sprintf("%s, mu %s, seed %d", c.Method, terminal.DecimalUp(c.Mu, 6), c.Seed)
		if c.Sampling != "" {
			at = fmt.Sprintf("%s, epsilon %s, seed %d", c.Method, terminal.DecimalUp(c.Epsilon, 6), c.Seed)
		}
		if c.Rate != 0 {
			at += fmt.Sprintf(", rate %.3g", c.Rate)
		}
		bar.At = at
		r, err := s.Do(ctx, c)
		var argument *fault.Argument
		switch {
		case errors.As(err, &argument):
			err = flags.SimulateError(err)
		case errors.Is(err, participation.ErrViolated) || errors.Is(err, simulate.ErrData) ||
			errors.Is(err, export.ErrPrivacy):
			err = terminal.Usage(err)
		}
		if err == nil && r.Diverged > 0 {
			bar.Clear()
			note(fmt.Sprintf("%s: the loss is not finite after step %d; the run is kept, and not in the means", at, r.Diverged))
		}
		return r, err
	}
}

// Simulation is what was trained: runs, and a row for every method and level.
type Simulation struct {
	Study *simulate.Study
	Grid  *simulate.Grid
	Rows  []simulate.Row
}

const simulationFigure = "privacy-utility"

// SimulationSpec is the study's, with what it says and its figures among the summaries.
func SimulationSpec(s *simulate.Study) study.Spec {
	spec := s.Spec()
	spec.Summaries = figures.WithFiles(append(spec.Summaries, document.FileName), simulationFigure)
	spec.Summaries = figures.WithFiles(spec.Summaries, figures.LossNames(s, s.Levels())...)
	return spec
}

// SimulationFiles returns what makes the summaries of all runs in a folder, with figures.
func SimulationFiles(s *simulate.Study, style figures.Style) func([]study.Entry[simulate.Cell, simulate.Result]) ([]study.File, error) {
	return func(entries []study.Entry[simulate.Cell, simulate.Result]) ([]study.File, error) {
		files, err := s.Files(entries)
		if err != nil {
			return nil, err
		}
		g := s.Grid(entries)
		names := figures.LossNames(s, g.Levels)
		for i, level := range g.Levels {
			f, err := figures.Losses(s, g, level)
			files = append(files, figures.Files(names[i], f, err, style)...)
		}
		f, err := figures.PrivacyUtility(s, g)
		files = append(files, figures.Files(simulationFigure, f, err, style)...)
		rows, err := g.Rows(s.Options().Delta)
		return append(files, documentFile(Simulation{s, g, rows}.Document())), err
	}
}

var simulationPage = document.Page[Simulation](pages, "simulation")

// Document says what was trained, and what the noise costs.
func (r Simulation) Document() *document.Document {
	d := simulationPage(r)
	d.Cells = r.Grid.Len()
	r.summarize(d)
	return d
}

// GossipRounds is how many rounds of gossip a step has.
func (r Simulation) GossipRounds() int { return max(r.Study.Config().Workload.GossipRounds, 1) }

// WorkloadFacts say what is trained.
func (r Simulation) WorkloadFacts() []document.Fact {
	return flags.WorkloadFacts(r.Study.Config().Workload)
}

// AboutSampling says how batches are drawn in secret.
func (r Simulation) AboutSampling() string {
	return sampling.Of(r.Study.Options().Sampling).Traits().About
}

func (r Simulation) some(of func(simulate.Row) bool) bool { return slices.ContainsFunc(r.Rows, of) }

// Classes reports whether models classify, and have an accuracy.
func (r Simulation) Classes() bool {
	return r.some(func(r simulate.Row) bool { return r.Accuracy != nil })
}

// Drawn reports whether batches are drawn in secret.
func (r Simulation) Drawn() bool {
	return r.some(func(r simulate.Row) bool { return r.Sampling != "" })
}

// Tuned reports whether methods have learning rates of their own.
func (r Simulation) Tuned() bool { return r.some(func(r simulate.Row) bool { return r.Rate > 0 }) }

// Quadratic reports whether it is known what the noise should cost.
func (r Simulation) Quadratic() bool {
	return r.some(func(r simulate.Row) bool { return r.Prediction != nil })
}

// Lines are the rows of the table.
func (r Simulation) Lines() []simulationLine {
	return lists.Map(r.Rows, func(r simulate.Row) simulationLine { return simulationLine{r} })
}

// summarize says the losses at the strictest and at the weakest level.
func (r Simulation) summarize(d *document.Document) {
	byLevel, levels := map[float64][]string{}, []float64{}
	for _, row := range r.Rows {
		if row.Mean == nil {
			continue
		}
		level := math.Inf(1) // without noise
		if row.Epsilon != nil {
			level = *row.Epsilon
		}
		if !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
		byLevel[level] = append(byLevel[level], fmt.Sprintf("%s %.5g", row.Method, *row.Mean))
	}
	slices.Sort(levels)
	for i, level := range levels {
		name := "loss at ε = " + terminal.NumberUp(level)
		switch {
		case math.IsInf(level, 1):
			name = "loss without noise"
		case i > 0 && i+1 < len(levels) && !math.IsInf(levels[i+1], 1):
			continue // in between
		}
		d.Summarize(name, "%s", strings.Join(byLevel[level], ", "))
	}
}

// simulationLine is a row of the table.
type simulationLine struct{ simulate.Row }

// Above is what the noise costs, with its standard error.
func (l simulationLine) Above() string {
	p := l.Excess
	if p == nil {
		return "-"
	}
	if p.StdErr == nil {
		return fmt.Sprintf("%.3g", p.Difference)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Max(*p.StdErr, 1e-12)))))
	return fmt.Sprintf("%.*f ± %.*f", digits, p.Difference, digits, *p.StdErr)
}

// Worst are of every method the row in which the errors that the noise alone makes of the models are farthest from what the Gram
// matrix predicts; none if nothing is predicted.
func (r Simulation) Worst() (worst []simulate.Row) {
	for _, r := range r.Rows {
		if r.NoiseError == nil || r.NoiseError.Predicted == nil {
			continue
		}
		at := slices.IndexFunc(worst, func(w simulate.Row) bool { return w.Method == r.Method })
		if at < 0 {
			worst = append(worst, r)
			continue
		}
		now, _ := r.NoiseError.Deviation()
		if was, _ := worst[at].NoiseError.Deviation(); now > was {
			worst[at] = r
		}
	}
	return worst
}

// Deviation is how many standard errors an error is off.
func (Simulation) Deviation(e *simulate.NoiseError) float64 {
	d, _ := e.Deviation()
	return d
}
