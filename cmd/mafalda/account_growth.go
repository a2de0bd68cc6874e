package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/study"
	"mafalda/threat"
)

// lengths returns the numbers of steps of --growth.
func (f *accountFlags) lengths(cmd *cobra.Command) ([]int, error) {
	if slices.ContainsFunc([]string{"T", "participations", "separation", "schema"}, cmd.Flags().Changed) {
		return nil, cli.Usagef("--growth has its own numbers of steps: leave out --T, -k, -b and --schema")
	}
	var all []int
	for _, word := range strings.Split(f.growth, ",") {
		n, err := cli.ParseWhole(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, cli.Usagef("--growth %s: %q is no number of steps", f.growth, word)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// runGrowth is account with --growth.
func (l *ledger) runGrowth(cmd *cobra.Command, lengths []int) error {
	if len(l.attackers) > 1 {
		return cli.Usagef("--growth is for one attacker at a time")
	}
	attacker := l.study.Cell(l.attackers[0].Nodes)
	spec := cli.StudyOf("account --growth")
	l.network.AddTo(&spec.Inputs)
	l.study.AddTo(&spec.Inputs)
	spec.Inputs.Add("attacker", fmt.Sprintf("%q", attacker.Attacker))
	spec.Summaries = cli.WithFigures([]string{"growth.json"}, "growth")
	spec.Replace = l.flags.force
	var cells []threat.GrowthCell
	for _, steps := range lengths {
		cells = append(cells, threat.GrowthCell{Cell: attacker, Steps: steps})
	}
	l.progress.At = "numbers of steps"
	rows, err := cli.Study[threat.GrowthCell, threat.GrowthRow]{Dir: l.flags.out, Spec: spec, Cells: cells, Cell: "length", Do: l.study.Growth,
		Files: l.growthFiles, Progress: l.progress}.Run(cmd.Context())
	if err != nil {
		return err
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

// growthData is the JSON of --growth.
func (l *ledger) growthData(rows []threat.GrowthRow) any {
	return map[string]any{"attacker": l.attackers[0].Name(l.network.Graph), "rows": rows}
}

// growthFiles are the summaries of all numbers of steps in the folder.
func (l *ledger) growthFiles(entries []study.Entry[threat.GrowthCell, threat.GrowthRow]) ([]study.File, error) {
	var rows []threat.GrowthRow
	for _, e := range entries {
		rows = append(rows, e.Result)
	}
	slices.SortFunc(rows, func(a, b threat.GrowthRow) int { return a.Steps - b.Steps })
	f, err := figures.Growth(rows)
	return append(cli.FigureFiles("growth", f), cli.JsonFile("growth.json", l.growthData(rows))), err
}

// printGrowth writes the table.
func (l *ledger) printGrowth(w io.Writer, rows []threat.GrowthRow) error {
	fmt.Fprintf(w, "graph          %s\n", l.network.Line())
	fmt.Fprintf(w, "gossip         %s\n", l.network.Origin.GossipLine())
	fmt.Fprintf(w, "attackers      %s\n", l.attackersLine())
	fmt.Fprintf(w, "bound          %s of sens²/T for %s, a record in every step\n\n", l.measure, l.algorithm)
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
