package results

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Document says what was trained, and what the noise costs.
func (r Simulation) Document() *document.Document {
	c, o, n := r.Study.Config(), r.Study.Options(), r.Study.Network()
	d := document.New("simulation", "Models that were trained with every method, to see what the noise costs.")
	d.Cells = r.Grid.Len()
	d.Warn("simulated, not private: the noise comes from a seed")
	for _, missing := range r.Grid.Missing() {
		d.Warn("half finished: %s", missing)
	}
	d.Fact("graph", "%s", n.Line())
	d.Fact("gossip", "%s, %s a step", n.Origin.GossipLine(), terminal.Count(max(c.Workload.GossipRounds, 1), "round"))
	d.Fact("task", "%s, %d parameters, learning rate %g", c.Task.Name, c.Task.Model.Size(), c.LearningRate)
	d.Add(flags.WorkloadFacts(c.Workload)...)
	if o.Sampling == participation.InTurn {
		d.Fact("participation", "%v", c.Schema)
	} else {
		d.Fact("sampling", "%v: %s; groups w as many as a strategy has bands, b = %d batches, T/b = %.4g", o.Sampling,
			sampling.Of(o.Sampling).Traits().About, c.Schema.Separation(), float64(c.Schema.Steps())/float64(c.Schema.Separation()))
	}
	privacy := fmt.Sprintf("local DP: against everybody who sees all messages; %v neighbours, clipped to %g, delta %g", o.Adjacency,
		c.Clip, o.Delta)
	sharing := r.Study.Sharing()
	for _, name := range slices.Sorted(maps.Keys(sharing)) {
		privacy += fmt.Sprintf("\n%s: SecLDP, against %s, who know the secrets of their own pairs", name, sharing[name])
	}
	d.Fact("privacy", "%s", privacy)
	rowsOf := "all test records"
	if c.TestRows > 0 {
		rowsOf = fmt.Sprintf("the first %d test records, in the last column on all", c.TestRows)
	}
	d.Fact("loss", "mean over the nodes and the last %s, %s; %s", terminal.Count(c.Window(), "step"), rowsOf, r.Grid.Count())
	if o.Tune != nil {
		d.Fact("tuned", "every method has its own learning rate of %s,\nthat of the least mean loss on the other half of the test records; "+
			"choosing it is not paid for in privacy", strings.Join(lists.Map(r.Study.Rates(), rateText), ", "))
	}
	d.Table(simulationTable(r.Rows))
	d.FactIf("noise", noiseText(r.Rows))
	r.summarize(d)
	d.Exclude("other tasks, models, data and learning rates than these",
		"runs that were not made: a mean of few seeds can be off by more than its standard error")
	return d
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

// simulationTable has a line a row; classifications have their accuracy beside the loss.
func simulationTable(rows []simulate.Row) document.Table {
	classes := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Accuracy != nil })
	drawn := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Sampling != "" })
	up := func(digits int) func(float64) string {
		return func(v float64) string { return terminal.DecimalUp(v, digits) }
	}
	tuned := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Rate > 0 })
	quadratic := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Prediction != nil })
	t := document.Table{Caption: "Test losses", Words: 1}
	for _, r := range rows {
		name, level := "mu", orDash(r.Mu, up(6))
		if drawn {
			name = "groups"
			if r.Mu == nil && r.Epsilon != nil {
				level = strconv.Itoa(r.Groups)
			}
		}
		row := []string{"method", r.Method, name, level, "epsilon", orDash(r.Epsilon, up(4)), "loss", lossText(r.Mean), "std", lossText(r.Std),
			"above none", orDash(r.Excess, excessText), "final, all", lossText(r.Full)}
		if classes {
			row = append(row, "accuracy", orDash(r.Accuracy, percentText))
		}
		if tuned {
			row = append(row, "rate", rateText(r.Rate))
		}
		if quadratic {
			row = append(row, "predicted, off by", orDash(r.Prediction, offText))
		}
		t.Row(append(row, "", remark(&r))...)
	}
	return t
}

func percentText(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func lossText(v *float64) string {
	return orDash(v, func(v float64) string { return fmt.Sprintf("%.5g", v) })
}

func rateText(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// offText is what the noise costs as it is predicted, and how much more it does.
func offText(e simulate.NoiseError) string {
	text := fmt.Sprintf("%.3g, %+.1f", *e.Predicted, 100*(e.Measured / *e.Predicted - 1))
	if e.StdErr != nil {
		text += fmt.Sprintf(" ± %.1f", 100**e.StdErr / *e.Predicted)
	}
	return text + " %"
}

// excessText is what the noise costs, with its standard error.
func excessText(p simulate.Paired) string {
	if p.StdErr == nil {
		return fmt.Sprintf("%.3g", p.Difference)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Max(*p.StdErr, 1e-12)))))
	return fmt.Sprintf("%.*f ± %.*f", digits, p.Difference, digits, *p.StdErr)
}

// remark says how a method compares with the methods of others.
func remark(r *simulate.Row) string {
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

// noiseText says how far the errors that the noise alone makes of the models are from what the Gram matrix predicts: of
// every method, at the level where they differ most. It is empty if nothing is predicted.
func noiseText(rows []simulate.Row) string {
	worst := map[string]simulate.Row{}
	var order []string
	for _, r := range rows {
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
