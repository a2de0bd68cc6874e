package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mafalda/accounting"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/simulated"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/simulate"
)

// simulatedRow sums up the runs of a method at a level. Numbers that do not exist are absent.
type simulatedRow struct {
	Method      string       `json:"method"`
	Mu          *float64     `json:"mu,omitempty"`
	Epsilon     *float64     `json:"epsilon,omitempty"`
	Seeds       int          `json:"seeds"`
	Diverged    int          `json:"diverged,omitempty"`
	Mean        *float64     `json:"mean_last50,omitempty"`
	Std         *float64     `json:"std_last50,omitempty"`
	Median      *float64     `json:"median_last50,omitempty"`
	Least       *float64     `json:"least_last50,omitempty"`
	Final       *float64     `json:"final,omitempty"`
	Full        *float64     `json:"final_full_test,omitempty"`
	Accuracy    *float64     `json:"accuracy,omitempty"` // of classifications, at the end, on all test records
	Clipped     float64      `json:"clipped_fraction"`
	Excess      *paired      `json:"above_none,omitempty"`  // what the noise costs
	Improvement *improvement `json:"improvement,omitempty"` // over the best method of others
	Seconds     float64      `json:"seconds_per_run"`
}

// paired is a difference of losses, run by run.
type paired struct {
	Difference float64  `json:"difference"`
	StdErr     *float64 `json:"standard_error,omitempty"`
}

type improvement struct {
	Over    string  `json:"over"`
	Percent float64 `json:"percent"` // of its mean loss
	paired
}

func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

func pair2(c simulate.Comparison) paired { return paired{c.Difference, finite(c.StdErr)} }

// rows sums up runs, level by level.
func (s *simulation) rows(g *grid) ([]simulatedRow, error) {
	var rows []simulatedRow
	none, there := g.none()
	if there {
		rows = append(rows, g.row(none, 0))
	}
	for _, mu := range g.levels {
		epsilon, err := accounting.Epsilon(mu, s.flags.delta)
		if err != nil {
			return nil, err
		}
		best, compared := g.bestBaseline(mu)
		for _, v := range g.methods {
			runs := g.of(v, mu)
			if v == none || len(runs) == 0 {
				continue
			}
			r := g.row(v, mu)
			r.Mu, r.Epsilon = &mu, &epsilon
			if there {
				if c := simulate.Compare(inPairs(g.of(none, 0), runs)); c.Runs > 0 {
					p := pair2(c)
					r.Excess = &p
				}
			}
			if compared && !slices.Contains(baselineNames, v.Method) {
				mine, other := inPairs(runs, g.of(best, mu))
				if c := simulate.Compare(mine, other); c.Runs > 0 {
					r.Improvement = &improvement{g.name(best), 100 * c.Difference / simulate.Summarize(other).Mean, pair2(c)}
				}
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func (g *grid) row(v variant, mu float64) simulatedRow {
	sum := simulate.Summarize(inOrder(g.of(v, mu)))
	return simulatedRow{Method: g.name(v), Seeds: sum.Runs, Diverged: sum.Diverged, Mean: finite(sum.Mean),
		Std: finite(sum.Std), Median: finite(sum.Median), Least: finite(sum.Least), Final: finite(sum.Final),
		Full: finite(sum.Full), Accuracy: finite(sum.Accuracy), Clipped: sum.Clipped, Seconds: sum.Seconds}
}

// bestBaseline returns the method of others with the smallest mean loss, of those with the fewest diverged runs,
// if there is one.
func (g *grid) bestBaseline(mu float64) (best variant, found bool) {
	var least simulate.Summary
	for _, v := range g.methods {
		if !slices.Contains(baselineNames, v.Method) {
			continue
		}
		sum := simulate.Summarize(inOrder(g.of(v, mu)))
		better := cmp.Or(sum.Diverged-least.Diverged, cmp.Compare(sum.Mean, least.Mean)) < 0
		if sum.Diverged < sum.Runs && (!found || better) {
			best, least, found = v, sum, true
		}
	}
	return best, found
}

// finish prints the rows that were asked for.
func (s *simulation) finish(w io.Writer, g *grid) error {
	rows, err := s.rows(g)
	if err != nil {
		return err
	}
	switch {
	case s.flags.json:
		return cli.WriteJSON(w, map[string]any{"simulated": true, "note": simulated.Note, "rows": rows})
	case s.flags.quiet:
		return nil
	}
	return s.print(w, g, rows)
}

// files are the summaries of all runs in the folder.
func (s *simulation) files(entries []study.Entry[cell, keptRun]) ([]study.File, error) {
	s.sortRuns(entries)
	g, kept := newGrid(), keptGrid{Mark: simulated.Noise(), Version: version.String(), Settings: s.spec().Inputs}
	for _, e := range entries {
		g.add(e.Cell, e.Result)
		run := listedRun{e.Cell.Method, e.Cell.Mu, e.Cell.Seed, e.Result}
		if e.Cell.Export != "" {
			run.Method += "#" + e.Cell.Export[:min(16, len(e.Cell.Export))]
		}
		kept.Runs = append(kept.Runs, run)
	}
	rows, err := s.rows(g)
	if err != nil {
		return nil, err
	}
	files := []study.File{
		{Name: "runs.json", Write: func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) }},
		{Name: "simulate.csv", Write: func(w io.Writer) error { return writeSimulated(w, rows) }},
	}
	for _, mu := range g.levels {
		f, err := s.lossFigure(g, mu)
		if err != nil {
			return nil, err
		}
		files = append(files, figures.Files(lossFigureName(mu), f)...)
	}
	f, err := s.privacyFigure(g, rows)
	return append(files, figures.Files("privacy-utility", f)...), err
}

func lossFigureName(mu float64) string { return fmt.Sprintf("loss-mu%g", mu) }

// isOfSimulation reports whether a file may be one that simulate writes beside runs.json.
func isOfSimulation(name string) bool {
	base := strings.TrimSuffix(name, filepath.Ext(name))
	ours := base == "privacy-utility" || strings.HasPrefix(base, "loss-mu")
	return name == "simulate.csv" || ours && slices.Contains(figures.WithFiles(nil, base), name)
}

func writeSimulated(w io.Writer, rows []simulatedRow) error {
	c := csv.NewWriter(w)
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 17, 64)
	}
	lines := [][]string{{"method", "mu", "epsilon", "seeds", "diverged", "mean_last50", "std_last50", "median_last50", "least_last50", "final", "final_full_test",
		"clipped_fraction", "above_none", "above_none_standard_error", "improvement_over", "improvement_percent",
		"seconds_per_run", "accuracy", "note"}}
	for _, r := range rows {
		line := []string{r.Method, text(r.Mu), text(r.Epsilon), strconv.Itoa(r.Seeds), strconv.Itoa(r.Diverged), text(r.Mean), text(r.Std), text(r.Median), text(r.Least),
			text(r.Final), text(r.Full), text(&r.Clipped), "", "", "", "", text(&r.Seconds), text(r.Accuracy), simulated.Note}
		if r.Excess != nil {
			line[12], line[13] = text(&r.Excess.Difference), text(r.Excess.StdErr)
		}
		if r.Improvement != nil {
			line[14], line[15] = r.Improvement.Over, text(&r.Improvement.Percent)
		}
		lines = append(lines, line)
	}
	return c.WriteAll(lines)
}

func (s *simulation) print(w io.Writer, g *grid, rows []simulatedRow) error {
	c := s.config
	fmt.Fprintf(w, "graph          %s\n", s.network.Line())
	fmt.Fprintf(w, "gossip         %s, %s a step\n", s.network.Origin.GossipLine(), cli.Count(c.Rounds, "round"))
	fmt.Fprintf(w, "task           %s, %d parameters, learning rate %g\n", c.Task.Name, c.Task.Model.Size(), c.LearningRate)
	fmt.Fprintf(w, "participation  %v\n", c.Schema)
	fmt.Fprintf(w, "privacy        local DP: against everybody who sees all messages; %v neighbours, clipped to %g, delta %g\n", s.adjacency, c.Clip, s.flags.delta)
	rowsOf := "all test records"
	if c.TestRows > 0 {
		rowsOf = fmt.Sprintf("the first %d test records, in the last column on all", c.TestRows)
	}
	fmt.Fprintf(w, "loss           mean over the nodes and the last %d steps, %s; %s\n\n", simulate.Window, rowsOf, g.seeds())
	if err := s.table(w, rows); err != nil {
		return err
	}
	var seconds []float64
	for _, r := range rows {
		seconds = append(seconds, r.Seconds)
	}
	fmt.Fprintf(w, "\ncost           %.3g s a run\n", slices.Max(seconds))
	if s.flags.out != "" {
		fmt.Fprintf(w, "written        %s\n", s.flags.out)
	} else {
		fmt.Fprintf(w, "written        nothing: use -o FOLDER to keep runs, table and figures\n")
	}
	return nil
}

// table writes a line a row; classifications have their accuracy beside the loss.
func (s *simulation) table(w io.Writer, rows []simulatedRow) error {
	classes := slices.ContainsFunc(rows, func(r simulatedRow) bool { return r.Accuracy != nil })
	header := []string{"method", "mu", "epsilon", "loss", "std", "above none", "final, all"}
	if classes {
		header = append(header, "accuracy")
	}
	var lines [][]string
	for _, r := range rows {
		level, epsilon := "-", "-"
		if r.Mu != nil {
			level, epsilon = s.flags.levelText(*r.Mu), cli.DecimalUp(*r.Epsilon, 4)
		}
		line := []string{r.Method, level, epsilon, lossText(r.Mean), lossText(r.Std), r.excessText(), lossText(r.Full)}
		if classes {
			line = append(line, percentText(r.Accuracy))
		}
		lines = append(lines, append(line, r.remark()))
	}
	return cli.Table(w, append(header, ""), lines)
}

func percentText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

// levelText prints a μ that was asked for: what the noise gives, or what was calibrated for if an ε was.
func (f *simulateFlags) levelText(mu float64) string {
	if len(f.epsilons) > 0 {
		return cli.DecimalDown(mu, 6)
	}
	return cli.DecimalUp(mu, 6)
}

func lossText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.5g", *v)
}

// excessText is what the noise costs, with its standard error.
func (r simulatedRow) excessText() string {
	if r.Excess == nil {
		return "-"
	}
	if r.Excess.StdErr == nil {
		return fmt.Sprintf("%.3g", r.Excess.Difference)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Max(*r.Excess.StdErr, 1e-12)))))
	return fmt.Sprintf("%.*f ± %.*f", digits, r.Excess.Difference, digits, *r.Excess.StdErr)
}

// remark says how a method compares with those of others.
func (r simulatedRow) remark() string {
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
		text += fmt.Sprintf("%s diverged", cli.Count(r.Diverged, "run"))
	}
	return text
}
