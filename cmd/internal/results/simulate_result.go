package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/simulated"
	"mafalda/participation"
	"mafalda/simulate"
)

// Simulating is the study's Do: bar says where it is, and note hears of runs that diverged.
func Simulating(s *simulate.Study, bar *terminal.Progress,
	note func(string)) func(context.Context, simulate.Cell) (simulate.Kept, error) {
	return func(ctx context.Context, c simulate.Cell) (simulate.Kept, error) {
		at := fmt.Sprintf("%s, mu %s, seed %d", c.Method, terminal.DecimalUp(c.Mu, 6), c.Seed)
		if c.Sampling != "" {
			at = fmt.Sprintf("%s, epsilon %s, seed %d", c.Method, terminal.DecimalUp(c.Epsilon, 6), c.Seed)
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

// WriteSimulationJSON writes the rows of a study as one JSON object.
func WriteSimulationJSON(w io.Writer, rows []simulate.Row) error {
	return terminal.WriteJSON(w, map[string]any{"simulated": true, "note": simulated.Note, "rows": rows})
}

// WriteSimulation writes what was run, and a table of its rows; dir is where it is kept, if anywhere.
func WriteSimulation(w io.Writer, s *simulate.Study, g *simulate.Grid, rows []simulate.Row, dir string) error {
	c, o, n := s.Config(), s.Options(), s.Network()
	fmt.Fprintf(w, "graph          %s\n", n.Line())
	fmt.Fprintf(w, "gossip         %s, %s a step\n", n.Origin.GossipLine(), terminal.Count(max(c.Workload.GossipRounds, 1), "round"))
	fmt.Fprintf(w, "task           %s, %d parameters, learning rate %g\n", c.Task.Name, c.Task.Model.Size(),
		c.LearningRate)
	for _, line := range flags.WorkloadLines(c.Workload) {
		fmt.Fprintln(w, line)
	}
	switch o.Sampling {
	case participation.InTurn:
		fmt.Fprintf(w, "participation  %v\n", c.Schema)
	case participation.Bins:
		fmt.Fprintf(w, "sampling       %v: every record once, in secret, into one of %d batches, which are visited in turn\n",
			o.Sampling, c.Schema.Separation())
	default:
		fmt.Fprintf(w, "sampling       %v: drawn in secret from as many groups as a strategy has bands, T/b = %.4g times in "+
			"expectation\n", o.Sampling, float64(c.Schema.Steps())/float64(c.Schema.Separation()))
	}
	fmt.Fprintf(w, "privacy        local DP: against everybody who sees all messages; %v neighbours, clipped to %g, "+
		"delta %g\n", o.Adjacency, c.Clip, o.Delta)
	sharing := s.Sharing()
	for _, name := range slices.Sorted(maps.Keys(sharing)) {
		fmt.Fprintf(w, "               %s: SecLDP, against %s, who know the secrets of their own pairs\n", name, sharing[name])
	}
	rowsOf := "all test records"
	if c.TestRows > 0 {
		rowsOf = fmt.Sprintf("the first %d test records, in the last column on all", c.TestRows)
	}
	fmt.Fprintf(w, "loss           mean over the nodes and the last %d steps, %s; %s\n\n", simulate.Window, rowsOf,
		g.Count())
	if err := simulationTable(w, rows); err != nil {
		return err
	}
	var seconds []float64
	for _, r := range rows {
		seconds = append(seconds, r.Seconds)
	}
	fmt.Fprintf(w, "\n%scost           %.3g s a run\n", noiseLine(rows), slices.Max(seconds))
	if dir != "" {
		fmt.Fprintf(w, "written        %s\n", dir)
	} else {
		fmt.Fprintf(w, "written        nothing: use -o FOLDER to keep runs, table and figures\n")
	}
	return nil
}

// simulationTable writes a line a row; classifications have their accuracy beside the loss.
func simulationTable(w io.Writer, rows []simulate.Row) error {
	classes := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Accuracy != nil })
	header := []string{"method", "mu", "epsilon", "loss", "std", "above none", "final, all"}
	drawn := slices.ContainsFunc(rows, func(r simulate.Row) bool { return r.Sampling != "" })
	if drawn {
		header[1] = "groups"
	}
	if classes {
		header = append(header, "accuracy")
	}
	var lines [][]string
	for _, r := range rows {
		level, epsilon := "-", "-"
		if r.Epsilon != nil {
			epsilon = terminal.DecimalUp(*r.Epsilon, 4)
		}
		switch {
		case r.Mu != nil:
			level = terminal.DecimalUp(*r.Mu, 6)
		case drawn && r.Epsilon != nil:
			level = strconv.Itoa(r.Groups)
		}
		line := []string{r.Method, level, epsilon, lossText(r.Mean), lossText(r.Std), excessText(r.Excess), lossText(r.Full)}
		if classes {
			line = append(line, percentText(r.Accuracy))
		}
		lines = append(lines, append(line, remark(&r)))
	}
	return terminal.Table(w, append(header, ""), lines)
}

func percentText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

func lossText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.5g", *v)
}

// excessText is what the noise costs, with its standard error.
func excessText(p *simulate.Paired) string {
	if p == nil {
		return "-"
	}
	if p.StdErr == nil {
		return fmt.Sprintf("%.3g", p.Difference)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Max(*p.StdErr, 1e-12)))))
	return fmt.Sprintf("%.*f ± %.*f", digits, p.Difference, digits, *p.StdErr)
}

// remark says how a method compares with those of others.
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

// noiseLine says how far the errors that the noise alone makes of the models are from what the Gram matrix predicts: of
// every method, at the level where they differ most. It is empty if nothing is predicted.
func noiseLine(rows []simulate.Row) string {
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
	text := "noise          squared error measured / predicted: "
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
	return text + "\n"
}
