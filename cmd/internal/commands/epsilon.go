package commands

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
)

type epsilonFlags struct {
	mu, epsilon, delta, alpha, rdp float64
	sampled                        sampledEpsilonFlags
	spent                          spentFlags
	json                           bool
}

func (f *epsilonFlags) run(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if given("export") {
		return f.spent.run(cmd, f.delta, f.json)
	}
	if err := f.sampled.check(cmd); err != nil {
		return err
	}
	if given("sampling") {
		return f.runSampled(cmd)
	}
	value := func(name string, v float64) *float64 {
		if !given(name) {
			return nil
		}
		return &v
	}
	c, err := accounting.Convert(accounting.Known{Mu: value("mu", f.mu), Epsilon: value("epsilon", f.epsilon),
		Delta: value("delta", f.delta), Alpha: value("alpha", f.alpha), RDP: value("alpha rdp", f.rdp)})
	if err != nil {
		return terminal.Usage(conversionError(err))
	}
	w := cmd.OutOrStdout()
	if f.json {
		return terminal.WriteJSONLine(w, c)
	}
	printConversion(w, c, given)
	return nil
}

// conversionError says which flags are missing or too many.
func conversionError(err error) error {
	a, is := errors.AsType[*fault.Argument](err)
	if !is {
		return err
	}
	switch a.Field {
	case "RDP":
		return errors.New("--alpha: rdp needs an order, and stands for --mu")
	case "Delta":
		return errors.New(a.Reason)
	}
	return errors.New("give two of --mu, --epsilon and --delta, or --mu and --alpha")
}

// printConversion writes given numbers as they are, and the others on the safe side: a μ for an (ε, δ) down, all else
// up.
func printConversion(w io.Writer, c *accounting.Conversion, given func(string) bool) {
	const digits = accounting.MuDigits
	text := func(name string, v float64) string {
		switch {
		case given(name):
			return terminal.AsGiven(v)
		case name == "mu" && given("epsilon") && given("delta"):
			return terminal.DecimalDown(v, digits)
		}
		return terminal.DecimalUp(v, digits)
	}
	fmt.Fprintf(w, "mu       %s\n", text("mu", c.Mu))
	if c.Epsilon != nil {
		fmt.Fprintf(w, "epsilon  %s\n", text("epsilon", *c.Epsilon))
	}
	switch {
	case c.LogDelta != nil && *c.Delta == math.SmallestNonzeroFloat64:
		fmt.Fprintf(w, "delta    exp(%s)\n", terminal.DecimalUp(*c.LogDelta, digits))
	case c.Delta != nil:
		fmt.Fprintf(w, "delta    %s\n", text("delta", *c.Delta))
	}
	if c.RDP != nil {
		fmt.Fprintf(w, "rdp      %s of order %g\n", text("alpha rdp", *c.RDP), *c.Alpha)
	}
	if c.EpsilonByRDP != nil {
		fmt.Fprintf(w, "         (by Renyi DP alone: epsilon %s)\n", terminal.DecimalUp(*c.EpsilonByRDP, digits))
	}
}
