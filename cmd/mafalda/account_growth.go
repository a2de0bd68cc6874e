package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/parallel"
	"mafalda/internal/study"
	"mafalda/participation"
	"mafalda/threat"
)

// growthRow is what one attacker learns in T steps, as squared sensitivity a step.
type growthRow struct {
	Steps      int      `json:"steps"`
	Neighbours *float64 `json:"neighbours,omitempty"` // mean over victims one hop away
	Others     *float64 `json:"others,omitempty"`     // mean over all others
	Asymptote  *float64 `json:"asymptote,omitempty"`  // of secure summation with a symmetric W
}

// parseGrowth reads the numbers of steps of --growth.
func parseGrowth(list string) ([]int, error) {
	var all []int
	for _, word := range strings.Split(list, ",") {
		var n cli.WholeNumber
		if err := n.Set(strings.TrimSpace(word)); err != nil || n < 1 {
			return nil, cli.Usagef("--growth %s: %q is no number of steps", list, word)
		}
		all = append(all, int(n))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// growthCell is an attacker and a number of steps.
type growthCell struct {
	accountCell
	Steps int `json:"steps"`
}

// growth computes what the attacker learns in a number of steps, with a record in each of them (Koskela &
// Kulkarni, Figure 1).
func (l *ledger) growth(ctx context.Context, c growthCell) (growthRow, error) {
	a, steps, row := l.byName[c.name()], c.Steps, growthRow{Steps: c.Steps}
	w := l.network.Gossip.Matrix()
	hops := graph.Hops(w, a.Nodes)
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		return row, cli.Usage(err)
	}
	local := 0.0
	err = parallel.Await(ctx, func() (err error) {
		local, err = l.algorithm.Local(schema)
		return cli.Usage(err)
	})
	if err != nil {
		return row, err
	}
	var sums, numbers [2]float64
	run := threat.Scenario{Gossip: w, Algorithm: l.algorithm, Attacker: a, Schema: schema}
	err = threat.Account(ctx, run, func(e threat.Exposure) error {
		squared := 0.0
		err := parallel.Await(ctx, func() (err error) {
			squared, err = l.bound.Squared(e, schema, local)
			return err
		})
		at := 1
		if hops[e.Victim] == 1 {
			at = 0
		}
		sums[at] += squared / float64(steps)
		numbers[at]++
		return err
	})
	if err != nil {
		return row, fmt.Errorf("accounting for T = %d: %w", steps, err)
	}
	if a.SecureSummation && l.network.Gossip.Symmetric() && len(a.Nodes) < len(hops) {
		limit := threat.AsymptoteSquared(len(a.Nodes), len(hops), steps, a.ForgetOwnNoise) / float64(steps)
		row.Asymptote = &limit
	}
	for at, target := range []**float64{&row.Neighbours, &row.Others} {
		if mean := sums[at] / numbers[at]; numbers[at] > 0 && !math.IsInf(mean, 0) {
			*target = &mean
		}
	}
	return row, nil
}

// growthSpec says whose the folder of --growth is.
func (l *ledger) growthSpec() study.Spec {
	s := study.Of("account --growth")
	l.inputs(&s.Inputs)
	s.Inputs.Add("attacker", l.cells()[0].name())
	s.Summaries = figures.WithFiles([]string{"growth.json"}, "growth")
	s.Replace = l.flags.force
	return s
}

// growthData is the JSON of --growth.
func (l *ledger) growthData(rows []growthRow) any {
	return map[string]any{"attacker": l.name(l.attackers[0]), "rows": rows}
}

// growthFiles are the summaries of all numbers of steps in the folder.
func (l *ledger) growthFiles(entries []study.Entry[growthCell, growthRow]) ([]study.File, error) {
	var rows []growthRow
	for _, e := range entries {
		rows = append(rows, e.Result)
	}
	slices.SortFunc(rows, func(a, b growthRow) int { return a.Steps - b.Steps })
	curves := []figures.Curve{{Name: "neighbours (mean)"}, {Name: "others (mean)"}, {Name: "asymptote", Dashed: true}}
	for _, r := range rows {
		for i, v := range []*float64{r.Neighbours, r.Others, r.Asymptote} {
			if v != nil && *v > 0 {
				curves[i].X, curves[i].Y = append(curves[i].X, float64(r.Steps)), append(curves[i].Y, *v)
			}
		}
	}
	files := []study.File{study.JSONFile("growth.json", l.growthData(rows))}
	curves = slices.DeleteFunc(curves, func(c figures.Curve) bool { return len(c.X) == 0 })
	if len(curves) == 0 {
		return files, nil
	}
	axes := figures.Axes{Title: "Squared sensitivity a step", X: "steps T", Y: "sens²/T", LogY: true, Marks: true}
	f, err := figures.Lines(axes, curves)
	return append(files, figures.Files("growth", f)...), err
}

// printGrowth writes the table.
func (l *ledger) printGrowth(w io.Writer, rows []growthRow) error {
	fmt.Fprintf(w, "graph          %s\n", l.network.Line())
	fmt.Fprintf(w, "gossip         %s\n", l.network.Origin.GossipLine())
	fmt.Fprintf(w, "attackers      %s\n", l.attackersLine())
	fmt.Fprintf(w, "bound          %s of sens²/T for %s, a record in every step\n\n", l.bound, l.algorithm.Name())
	text := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return cli.NumberUp(*v)
	}
	var lines [][]string
	for _, r := range rows {
		lines = append(lines, []string{strconv.Itoa(r.Steps), text(r.Neighbours), text(r.Others), text(r.Asymptote)})
	}
	if err := cli.Table(w, []string{"T", "neighbours", "others", "asymptote"}, lines); err != nil || l.flags.out == "" {
		return err
	}
	return l.written(w, "growth.json", "growth.png", "growth.svg")
}

// runGrowth is account with --growth.
func (l *ledger) runGrowth(cmd *cobra.Command) error {
	if len(l.attackers) > 1 {
		return cli.Usagef("--growth is for one attacker at a time")
	}
	store, err := study.Open[growthCell, growthRow](l.flags.out, l.growthSpec())
	if err != nil {
		return cli.StudyError(err)
	}
	var cells []growthCell
	for _, steps := range l.flags.lengths {
		cells = append(cells, growthCell{l.cells()[0], steps})
	}
	l.progress.At = "numbers of steps"
	err = study.Run(cmd.Context(), store, cells, l.growth, study.Options{Progress: l.progress.ShowAt})
	l.progress.Clear()
	if err != nil {
		err = cli.StoppedError(err, l.flags.out, "length")
	}
	if err := cli.Summarize(cmd.Context(), store, err, l.growthFiles); err != nil {
		return err
	}
	var rows []growthRow
	for _, c := range cells {
		row, _, err := store.Get(c)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	switch w := cmd.OutOrStdout(); {
	case l.flags.json:
		return cli.WriteJSON(w, l.growthData(rows))
	case l.flags.quiet:
		return nil
	default:
		return l.printGrowth(w, rows)
	}
}
