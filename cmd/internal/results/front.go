package results

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
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

// Text names the class with all its parameters.
func (r FrontRow) Text() string { return plan.ClassText(r.Choice.Class) }

// ClassName names the class with its size.
func (r FrontRow) ClassName() string {
	switch {
	case r.Bandwidth == 1 && r.Sampling == participation.Poisson.String():
		return "DP-D-SGD (banded, w = 1)"
	case r.Buffers > 0:
		return fmt.Sprintf("%s, d = %d", r.Class, r.Buffers)
	case r.Bandwidth > 0:
		return fmt.Sprintf("%s, w = %d", r.Class, r.Bandwidth)
	}
	return r.Class
}
