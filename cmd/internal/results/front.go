package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/internal/text"
	"mafalda/participation"
	"mafalda/plan"
)

// MemoryFront is what memory at a node buys, as JSON.
type MemoryFront struct {
	Choices    []FrontRow `json:"choices"`
	Best       FrontRow   `json:"best"`
	BestInTurn FrontRow   `json:"best_in_turn"`
	NoPoisson  string     `json:"no_poisson,omitempty"` // why nothing is known of secret batches
}

// FrontRow is a strategy, the memory that it takes and the error that it makes.
type FrontRow struct {
	strategyRow
	plan.Choice
	Ratio float64 `json:"ratio,omitempty"` // error over that of the dense optimum in turn
}

// MemoryFrontOf returns the result of a front that a command finds, whose own flags optimize does not have.
func MemoryFrontOf(cmd *cobra.Command, own []string, a *plan.MemoryFront) *MemoryFront {
	r := &MemoryFront{}
	if a.NoPoisson != nil {
		r.NoPoisson = strings.ReplaceAll(flags.Hinted(cmd, a.NoPoisson), "sampling poisson", "Poisson sampling")
	}
	row := func(c plan.Choice) FrontRow {
		command := optimizeCommand(cmd, own, append(samplingFlags(c.Sampling), classWords(c.Class)...)...)
		of := FrontRow{strategyRow: rowOf(c.Price, &a.Budget, command), Choice: c}
		if a.Optimum > 0 {
			of.Ratio = c.ErrorAtPrivacy / a.Optimum
		}
		return of
	}
	r.Choices, r.Best, r.BestInTurn = lists.Map(a.Choices, row), row(a.Best), row(a.BestInTurn)
	return r
}

// WriteFrontCSV writes a line of CSV for every choice, with all digits.
func WriteFrontCSV(w io.Writer, r *MemoryFront) error {
	lines := text.NewCSV("sampling,class,bandwidth,buffers,memory_floats,memory_bytes,flops_per_step,noise_std," +
		"squared_error,error_at_privacy,ratio,front")
	for _, c := range r.Choices {
		lines.Add(c.Sampling, c.Class, c.Bandwidth, c.Buffers, c.Floats, c.MemoryBytes,
			c.Flops, c.NoiseStd, c.SquaredError, c.ErrorAtPrivacy, c.Ratio, c.Front)
	}
	return lines.Write(w)
}

// WriteFront prints the fronts as a table, and which choice to take.
func WriteFront(w io.Writer, a *plan.MemoryFront, r *MemoryFront) error {
	fmt.Fprintf(w, "\nwhat memory buys: strategies that nothing with as little memory is better than\n")
	header := []string{"batches", "strategy", "numbers kept", "memory", "operations a step", "error at privacy"}
	if a.Optimum > 0 {
		header = append(header, "of optimum in turn")
	}
	var rows [][]string
	for i, c := range a.Choices {
		if !c.Front {
			continue
		}
		batches, marked := "in turn", ""
		if c.Sampling == participation.Poisson {
			batches = "in secret (poisson)"
		}
		if c == a.Best || c == a.BestInTurn {
			marked = " *"
		}
		row := []string{batches, plan.ClassText(c.Class) + marked, strconv.Itoa(c.Floats),
			terminal.BytesText(r.Choices[i].MemoryBytes), strconv.Itoa(c.Flops), terminal.NumberUp(c.ErrorAtPrivacy)}
		if a.Optimum > 0 {
			row = append(row, fmt.Sprintf("%.4f", r.Choices[i].Ratio))
		}
		rows = append(rows, row)
	}
	if err := terminal.Table(w, header, rows); err != nil {
		return err
	}
	say := func(label string, c FrontRow, why string) {
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
	return nil
}

func className(c FrontRow) string {
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
