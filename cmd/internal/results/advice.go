package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/shell"
	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/plan"
)

// AdviceResult is what advice prints as JSON.
type AdviceResult struct {
	Version        string        `json:"version"`
	Graph          *graph.Origin `json:"graph,omitempty"`
	Workload       string        `json:"workload"`
	Steps          int           `json:"T"`
	Participations int           `json:"k"`
	Separation     int           `json:"b"`
	Epsilon        float64       `json:"epsilon"`
	Delta          float64       `json:"delta"`
	Adjacency      string        `json:"adjacency"`
	Dim            int           `json:"dim"`
	NumberBytes    int           `json:"number_bytes"`
	MemoryBytes    float64       `json:"memory_bytes,omitempty"` // the limit; absent: none
	Choices        []AdviceRow   `json:"choices"`
	Best           AdviceRow     `json:"best"`
	BestInTurn     AdviceRow     `json:"best_in_turn"`
	NoPoisson      string        `json:"no_poisson,omitempty"` // why nothing is known of secret batches
}

// AdviceRow is a strategy, the memory that it takes and the error that it makes.
type AdviceRow struct {
	Sampling       string  `json:"sampling"`
	Class          string  `json:"class"`
	Bandwidth      int     `json:"bandwidth,omitempty"`
	Buffers        int     `json:"buffers,omitempty"`
	MemoryFloats   int     `json:"memory_floats"`
	MemoryBytes    float64 `json:"memory_bytes"`
	FlopsPerStep   int     `json:"flops_per_step"`
	NoiseStd       float64 `json:"noise_std"` // in units of the clip
	SquaredError   float64 `json:"squared_error"`
	ErrorAtPrivacy float64 `json:"error_at_privacy"`
	Ratio          float64 `json:"ratio,omitempty"` // of the dense optimum's in turn
	Front          bool    `json:"front"`
	Command        string  `json:"command"`
}

// AdviceResultOf returns the result of advice that a command gives, whose own flags optimize does not have.
func AdviceResultOf(cmd *cobra.Command, own []string, a *plan.Advice) *AdviceResult {
	p, w := a.Problem, a.Options.Privacy
	r := &AdviceResult{Version: version.String(), Workload: p.Workload.String(), Steps: p.Schema.Steps(),
		Participations: p.Schema.Participations(), Separation: p.Schema.Separation(), Epsilon: w.Epsilon, Delta: w.Delta,
		Adjacency: w.Adjacency.String(), Dim: a.Budget.Dim, NumberBytes: a.Budget.NumberBytes()}
	if p.Network != nil {
		r.Graph = &p.Network.Origin
	}
	if !math.IsInf(a.Budget.Memory, 1) {
		r.MemoryBytes = a.Budget.Memory
	}
	if a.NoPoisson != nil {
		r.NoPoisson = strings.ReplaceAll(flags.Hinted(cmd, a.NoPoisson), "Sampling poisson", "Poisson sampling")
	}
	row := func(c plan.Choice) AdviceRow {
		of := AdviceRow{Sampling: c.Sampling.String(), Class: c.Class.Name(), Bandwidth: c.Class.Parameters().Bandwidth,
			Buffers: c.Class.Parameters().Buffers, MemoryFloats: c.Cost.Floats, MemoryBytes: a.Budget.Bytes(c.Cost.Floats),
			FlopsPerStep: c.Cost.Flops, NoiseStd: c.NoiseStd, SquaredError: c.SquaredError, ErrorAtPrivacy: c.ErrorAtPrivacy,
			Front: c.Front, Command: optimizeCommand(cmd, own, c)}
		if a.Optimum > 0 {
			of.Ratio = c.ErrorAtPrivacy / a.Optimum
		}
		return of
	}
	for _, c := range a.Choices {
		r.Choices = append(r.Choices, row(c))
	}
	r.Best, r.BestInTurn = row(a.Best), row(a.BestInTurn)
	return r
}

// WriteAdviceCSV writes a line of CSV for every choice, with all digits.
func WriteAdviceCSV(w io.Writer, r *AdviceResult) error {
	lines := [][]string{{"sampling", "class", "bandwidth", "buffers", "memory_floats", "memory_bytes", "flops_per_step",
		"noise_std", "squared_error", "error_at_privacy", "ratio", "front"}}
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }
	for _, c := range r.Choices {
		lines = append(lines, []string{c.Sampling, c.Class, strconv.Itoa(c.Bandwidth), strconv.Itoa(c.Buffers),
			strconv.Itoa(c.MemoryFloats), strconv.FormatFloat(c.MemoryBytes, 'f', -1, 64), strconv.Itoa(c.FlopsPerStep),
			float(c.NoiseStd), float(c.SquaredError), float(c.ErrorAtPrivacy), float(c.Ratio), strconv.FormatBool(c.Front)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteAdvice prints the fronts as a table, and which choice to take; dir is where they are kept, if anywhere.
func WriteAdvice(w io.Writer, a *plan.Advice, r *AdviceResult, dir string) error {
	p := a.Problem
	if n := p.Network; n != nil {
		fmt.Fprintf(w, "graph          %s\ngossip         %s\n", n.Line(), n.Origin.GossipLine())
	}
	fmt.Fprintf(w, "workload       %v, T = %d steps\n", p.Workload, p.Schema.Steps())
	fmt.Fprintf(w, "participation  %v\n", p.Schema)
	fmt.Fprintf(w, "privacy        (%v, %v)-DP, local and %s: in turn whoever knows when a record takes part, in secret "+
		"only if nobody does\n", r.Epsilon, r.Delta, r.Adjacency)
	fmt.Fprintf(w, "memory         of the noise at a node, for %s parameters, %d bytes a number", terminal.Grouped(r.Dim), r.NumberBytes)
	if r.MemoryBytes > 0 {
		fmt.Fprintf(w, "; at most %s", terminal.BytesText(r.MemoryBytes))
	}
	fmt.Fprintf(w, "\n\nstrategies that nothing with as little memory is better than; the error is squared, with the noise "+
		"for the privacy\n")
	header := []string{"batches", "strategy", "numbers kept", "memory", "operations a step", "error at privacy"}
	if a.Optimum > 0 {
		header = append(header, "of optimum in turn")
	}
	var rows [][]string
	for i, c := range a.Choices {
		if !c.Front {
			continue
		}
		row := []string{samplingText(c.Sampling), plan.ClassText(c.Class) + marked(a, c), strconv.Itoa(c.Cost.Floats),
			terminal.BytesText(r.Choices[i].MemoryBytes), strconv.Itoa(c.Cost.Flops), terminal.NumberUp(c.ErrorAtPrivacy)}
		if a.Optimum > 0 {
			row = append(row, fmt.Sprintf("%.4f", r.Choices[i].Ratio))
		}
		rows = append(rows, row)
	}
	if err := terminal.Table(w, header, rows); err != nil {
		return err
	}
	writeTake(w, a, r)
	if dir != "" {
		fmt.Fprintf(w, "written        %s\n", dir)
	}
	return nil
}

// marked marks the choices to take.
func marked(a *plan.Advice, c plan.Choice) string {
	if c == a.Best || c == a.BestInTurn {
		return " *"
	}
	return ""
}

func samplingText(s participation.Scheme) string {
	if s == participation.Poisson {
		return "in secret (poisson)"
	}
	return "in turn"
}

// writeTake says which strategies to take, and what is not in the table.
func writeTake(w io.Writer, a *plan.Advice, r *AdviceResult) {
	say := func(label string, c AdviceRow, why string) {
		fmt.Fprintf(w, "%-14s %s: %s, %s%s\n               %s\n", label, className(c), terminal.BytesText(c.MemoryBytes),
			"error "+terminal.NumberUp(c.ErrorAtPrivacy), why, c.Command)
	}
	fmt.Fprintf(w, "\n* the least memory for an error at most %.0f %% above the least\n", 100*(plan.Near-1))
	if a.Best.Sampling == participation.Poisson {
		say("take", r.Best, ", if a node can keep secret which records it draws")
		say("otherwise", r.BestInTurn, ", in turn")
	} else {
		say("take", r.BestInTurn, ", in turn")
	}
	if a.NoPoisson != nil {
		fmt.Fprintf(w, "in secret      not looked at: %s\n", r.NoPoisson)
	}
	fmt.Fprintf(w, "not here       blt beyond %d buffers, and more memory where the error is within 0.1 %% of the optimum's;\n"+
		"               dense takes none if a node makes earlier noise again in every step, about T/2 times as much to\n"+
		"               draw (mafalda noise --regenerate)\n", plan.MaxBuffers)
}

func className(c AdviceRow) string {
	switch {
	case c.Bandwidth == 1 && c.Sampling == participation.Poisson.String():
		return "DP-D-SGD (banded, w = 1)"
	case c.Buffers > 0:
		return fmt.Sprintf("%s, d = %d", c.Class, c.Buffers)
	case c.Bandwidth > 0:
		return fmt.Sprintf("%s, w = %d", c.Class, c.Bandwidth)
	}
	return c.Class
}

// optimizeCommand returns the command line that computes and exports a choice: the given flags of cmd, without
// the flags that only cmd has.
func optimizeCommand(cmd *cobra.Command, own []string, c plan.Choice) string {
	words := []string{cmd.Root().Name(), "optimize"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains(own, f.Name):
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, shell.Quote(f.Value.String()))
		}
	})
	if c.Sampling == participation.Poisson {
		words = append(words, "--sampling", c.Sampling.String())
	}
	words = append(words, "--strategy", c.Class.Name())
	if p := c.Class.Parameters(); p.Buffers > 0 {
		words = append(words, "--buffers", strconv.Itoa(p.Buffers))
	} else if p.Bandwidth > 0 {
		words = append(words, "--bandwidth", strconv.Itoa(p.Bandwidth))
	}
	return strings.ReplaceAll(strings.Join(append(words, "-o", "out"), " "), "=true", "")
}
