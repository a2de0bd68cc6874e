package commands

import (
	"errors"
	"math"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/cmd/internal/document"
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
	return conversionPage(converted{c, given}).Text(w)
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

// converted is a conversion of given numbers.
type converted struct {
	*accounting.Conversion
	given func(flag string) bool
}

var conversionPage = document.Page[converted](pages, "conversion")

// Text prints given numbers as they are, and the others on the safe side: a μ for an (ε, δ) down, all else up.
func (c converted) Text(flag string, v float64) string {
	switch {
	case c.given(flag):
		return terminal.AsGiven(v)
	case flag == "mu" && c.given("epsilon") && c.given("delta"):
		return terminal.DecimalDown(v, accounting.MuDigits)
	}
	return c.Up(v)
}

// Up rounds a number up.
func (converted) Up(v float64) string { return terminal.DecimalUp(v, accounting.MuDigits) }

// Underflows reports whether δ is too small for a number.
func (c converted) Underflows() bool {
	return c.LogDelta != nil && *c.Delta == math.SmallestNonzeroFloat64
}
