package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"mafalda/accounting"
	"mafalda/export"
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

// rows sums up the runs that were asked for, level by level.
func (s *simulation) rows(g *grid) ([]simulatedRow, error) {
	var rows []simulatedRow
	none := slices.IndexFunc(s.methods, func(m method) bool { return m.name == "none" })
	if none >= 0 {
		rows = append(rows, s.row(g, s.methods[none], 0))
	}
	for _, mu := range s.levels {
		epsilon, err := accounting.Epsilon(mu, s.flags.delta)
		if err != nil {
			return nil, err
		}
		best := s.bestBaseline(g, mu)
		for _, m := range s.methods {
			if m.name == "none" {
				continue
			}
			r := s.row(g, m, mu)
			r.Mu, r.Epsilon = &mu, &epsilon
			runs := g.of(m, mu, s.flags.seeds)
			if none >= 0 {
				if c := simulate.Compare(g.of(s.methods[none], 0, s.flags.seeds), runs); c.Runs > 0 {
					p := pair2(c)
					r.Excess = &p
				}
			}
			if best != nil && !slices.Contains(baselineNames, m.name) {
				other := g.of(*best, mu, s.flags.seeds)
				if c := simulate.Compare(runs, other); c.Runs > 0 {
					r.Improvement = &improvement{best.name, 100 * c.Difference / simulate.Summarize(other).Mean, pair2(c)}
				}
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func (s *simulation) row(g *grid, m method, mu float64) simulatedRow {
	sum := simulate.Summarize(g.of(m, mu, s.flags.seeds))
	return simulatedRow{Method: m.name, Seeds: sum.Runs, Diverged: sum.Diverged, Mean: finite(sum.Mean), Std: finite(sum.Std), Median: finite(sum.Median), Least: finite(sum.Least),
		Final: finite(sum.Final), Full: finite(sum.Full), Clipped: sum.Clipped, Seconds: sum.Seconds}
}

// bestBaseline returns the method of others with the smallest mean loss, of those with the fewest diverged runs; nil if there is none.
func (s *simulation) bestBaseline(g *grid, mu float64) *method {
	var best *method
	var least simulate.Summary
	for i, m := range s.methods {
		if !slices.Contains(baselineNames, m.name) {
			continue
		}
		sum := simulate.Summarize(g.of(m, mu, s.flags.seeds))
		if sum.Diverged < sum.Runs && (best == nil || sum.Diverged < least.Diverged || sum.Diverged == least.Diverged && sum.Mean < least.Mean) {
			best, least = &s.methods[i], sum
		}
	}
	return best
}

// finish prints the rows, and writes them with figures.
func (s *simulation) finish(w io.Writer, g *grid) error {
	rows, err := s.rows(g)
	if err != nil {
		return err
	}
	if g.path != "" {
		if err := s.writeAll(g, rows); err != nil {
			return err
		}
	}
	if s.flags.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"rows": rows})
	}
	if s.flags.quiet {
		return nil
	}
	return s.print(w, rows)
}

func (s *simulation) writeAll(g *grid, rows []simulatedRow) error {
	dir := s.flags.out
	err := export.WriteFile(filepath.Join(dir, "simulate.csv"), func(w io.Writer) error { return writeSimulated(w, rows) }, true)
	if err != nil {
		return err
	}
	for _, mu := range s.levels {
		if f, err := s.lossFigure(g, mu); err != nil {
			return err
		} else if f != nil {
			if err := writeFigure(io.Discard, dir, fmt.Sprintf("loss-mu%g", mu), f, true); err != nil {
				return err
			}
		}
	}
	f, err := s.privacyFigure(rows)
	if err != nil || f == nil {
		return err
	}
	return writeFigure(io.Discard, dir, "privacy-utility", f, true)
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
		"clipped_fraction", "above_none", "above_none_standard_error", "improvement_over", "improvement_percent", "seconds_per_run"}}
	for _, r := range rows {
		line := []string{r.Method, text(r.Mu), text(r.Epsilon), strconv.Itoa(r.Seeds), strconv.Itoa(r.Diverged), text(r.Mean), text(r.Std), text(r.Median), text(r.Least),
			text(r.Final), text(r.Full), text(&r.Clipped), "", "", "", "", text(&r.Seconds)}
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

func (s *simulation) print(w io.Writer, rows []simulatedRow) error {
	c := s.config
	fmt.Fprintf(w, "graph          %s\n", s.network.line())
	fmt.Fprintf(w, "gossip         %s, %s a step\n", gossipLine(&s.network.origin), count(c.Rounds, "round"))
	fmt.Fprintf(w, "task           %s, %d parameters, learning rate %g\n", c.Task.Name, c.Task.Model.Size(), c.LearningRate)
	fmt.Fprintf(w, "participation  %v\n", c.Schema)
	fmt.Fprintf(w, "privacy        local DP: against everybody who sees all messages; %v neighbours, clipped to %g, delta %g\n", s.adjacency, c.Clip, s.flags.delta)
	rowsOf := "all test records"
	if c.TestRows > 0 {
		rowsOf = fmt.Sprintf("the first %d test records, in the last column on all", c.TestRows)
	}
	fmt.Fprintf(w, "loss           mean over the nodes and the last %d steps, %s; %s\n\n", simulate.Window, rowsOf, count(s.flags.seeds, "run"))
	var lines [][]string
	for _, r := range rows {
		level, epsilon := "-", "-"
		if r.Mu != nil {
			level, epsilon = s.flags.levelText(*r.Mu), decimalUp(*r.Epsilon, 4)
		}
		lines = append(lines, []string{r.Method, level, epsilon, lossText(r.Mean), lossText(r.Std), r.excessText(), lossText(r.Full), r.remark()})
	}
	if err := table(w, []string{"method", "mu", "epsilon", "loss", "std", "above none", "final, all", ""}, lines); err != nil {
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

// levelText prints a μ that was asked for: what the noise gives, or what was calibrated for if an ε was.
func (f *simulateFlags) levelText(mu float64) string {
	if len(f.epsilons) > 0 {
		return decimalDown(mu, 6)
	}
	return decimalUp(mu, 6)
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
		text += fmt.Sprintf("%s diverged", count(r.Diverged, "run"))
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
