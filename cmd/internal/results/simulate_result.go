package results

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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
			at += ", rate " + rateText(c.Rate)
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

// Rates are the learning rates that were tried.
func (r Simulation) Rates() []string { return lists.Map(r.Study.Rates(), rateText) }

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
		byLevel[level] = append(byLevel[level], row.Method+" "+lossText(row.Mean))
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

// Loss prints a loss, or a dash.
func (simulationLine) Loss(v *float64) string { return lossText(v) }

// RateText prints the learning rate.
func (l simulationLine) RateText() string { return rateText(l.Rate) }

func lossText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.5g", *v)
}

func rateText(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// Off is what the noise costs as it is predicted, and how much more it does.
func (l simulationLine) Off() string {
	e := l.Prediction
	if e == nil {
		return "-"
	}
	text := fmt.Sprintf("%.3g, %+.1f", *e.Predicted, 100*(e.Measured / *e.Predicted - 1))
	if e.StdErr != nil {
		text += fmt.Sprintf(" ± %.1f", 100**e.StdErr / *e.Predicted)
	}
	return text + " %"
}

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

// Remark says how a method compares with the methods of others.
func (r simulationLine) Remark() string {
	text := ""
	if i := r.Improvement; i != nil {
		text = fmt.Sprintf("%.1f %% below %s", i.Percent, i.Over)
		if i.Percent < 0 {
			text = fmt.Sprintf("%.1f %% above %s", -i.Percent, i.Over)
		}
		if i.StdErr != nil && math.Abs(i.Difference) < 2**i.StdErr {
			text += " (within noise)"
		}
	}
	if r.Diverged > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s diverged", terminal.Count(r.Diverged, "run"))
	}
	return text
}

// Noise says how far the errors that the noise alone makes of the models are from what the Gram matrix predicts: of
// every method, at the level where they differ most. It is empty if nothing is predicted.
func (r Simulation) Noise() string {
	worst := map[string]simulate.Row{}
	var order []string
	for _, r := range r.Rows {
		if r.NoiseError == nil || r.NoiseError.Predicted == nil {
			continue
		}
		now, _ := r.NoiseError.Deviation()
		before, there := worst[r.Method]
		if !there {
			order = append(order, r.Method)
		}
		if was, _ := before.NoiseError.Deviation(); !there || now > was {
			worst[r.Method] = r
		}
	}
	if len(order) == 0 {
		return ""
	}
	text := "squared error measured / predicted: "
	for i, name := range order {
		e := worst[name].NoiseError
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %.3f", name, e.Measured / *e.Predicted)
		if e.StdErr != nil {
			text += fmt.Sprintf(" ± %.3f", *e.StdErr / *e.Predicted)
		}
		if d, _ := e.Deviation(); e.Off() {
			text += fmt.Sprintf(" (%.1f standard errors off)", d)
		}
	}
	return text
}
