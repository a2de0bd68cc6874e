package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/figure"
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
		var n wholeNumber
		if err := n.Set(strings.TrimSpace(word)); err != nil || n < 1 {
			return nil, usagef("--growth %s: %q is no number of steps", list, word)
		}
		all = append(all, int(n))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// growth computes what the attacker learns for every number of steps, with a record in each of them (Koskela & Kulkarni, Figure 1).
func (l *ledger) growth(ctx context.Context, lengths []int) ([]growthRow, error) {
	a := l.attackers[0]
	w := l.network.gossip.Matrix()
	hops := hopsFrom(w, a.Nodes)
	var rows []growthRow
	for i, steps := range lengths {
		l.progress.show(float64(i)/float64(len(lengths)), fmt.Sprintf("T = %d", steps))
		schema, err := participation.NewCyclic(steps, steps, 1)
		if err != nil {
			return nil, usage(err)
		}
		local := 0.0
		err = await(ctx, func() (err error) {
			local, err = l.algorithm.Local(schema)
			return usage(err)
		})
		if err != nil {
			return nil, err
		}
		var sums, numbers [2]float64
		err = threat.Account(ctx, w, l.algorithm, a, steps, func(e threat.Exposure) error {
			squared := 0.0
			err := await(ctx, func() (err error) {
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
			return nil, fmt.Errorf("accounting for T = %d: %w", steps, err)
		}
		row := growthRow{Steps: steps}
		if a.SecureSummation && l.network.gossip.Symmetric() && len(a.Nodes) < len(hops) {
			limit := threat.AsymptoteSquared(len(a.Nodes), len(hops), steps, a.ForgetOwnNoise) / float64(steps)
			row.Asymptote = &limit
		}
		for at, target := range []**float64{&row.Neighbours, &row.Others} {
			if mean := sums[at] / numbers[at]; numbers[at] > 0 && !math.IsInf(mean, 0) {
				*target = &mean
			}
		}
		rows = append(rows, row)
	}
	l.progress.clear()
	return rows, nil
}

// printGrowth writes the table, and a figure if there is a folder.
func (l *ledger) printGrowth(w io.Writer, rows []growthRow) error {
	fmt.Fprintf(w, "graph          %s\n", l.network.line())
	fmt.Fprintf(w, "gossip         %s\n", gossipLine(&l.network.origin))
	fmt.Fprintf(w, "attackers      %s\n", l.attackersLine())
	fmt.Fprintf(w, "bound          %s of sens²/T for %s, a record in every step\n\n", l.bound, l.algorithm.Name())
	text := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return number(*v)
	}
	var lines [][]string
	curves := []figure.Curve{{Name: "neighbours (mean)"}, {Name: "others (mean)"}, {Name: "asymptote", Dashed: true}}
	for _, r := range rows {
		lines = append(lines, []string{strconv.Itoa(r.Steps), text(r.Neighbours), text(r.Others), text(r.Asymptote)})
		for i, v := range []*float64{r.Neighbours, r.Others, r.Asymptote} {
			if v != nil && *v > 0 {
				curves[i].X, curves[i].Y = append(curves[i].X, float64(r.Steps)), append(curves[i].Y, *v)
			}
		}
	}
	if err := table(w, []string{"T", "neighbours", "others", "asymptote"}, lines); err != nil {
		return err
	}
	if l.flags.out == "" {
		return nil
	}
	curves = slices.DeleteFunc(curves, func(c figure.Curve) bool { return len(c.X) == 0 })
	f, err := figure.Lines(figure.Axes{Title: "Squared sensitivity a step", X: "steps T", Y: "sens²/T", LogY: true, Marks: true}, curves)
	if err != nil {
		return err
	}
	return writeFigure(w, l.flags.out, "growth", f, l.flags.force)
}

// runGrowth is account with --growth.
func (l *ledger) runGrowth(cmd *cobra.Command) error {
	if len(l.attackers) > 1 {
		return usagef("--growth is for one attacker at a time")
	}
	rows, err := l.growth(cmd.Context(), l.flags.lengths)
	if err != nil {
		return err
	}
	if l.flags.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"attacker": l.name(l.attackers[0]), "rows": rows})
	}
	return l.printGrowth(cmd.OutOrStdout(), rows)
}
