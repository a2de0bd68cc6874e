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

func newEpsilonCmd() *cobra.Command {
	var f epsilonFlags
	cmd := &cobra.Command{
		Use:   "epsilon",
		Short: "Convert between mu-GDP, (epsilon, delta) and Renyi DP",
		Long: `Convert between the parameters of Gaussian DP, approximate DP and Renyi DP. Give two of --mu, --epsilon and --delta
and the third is computed, exactly and rounded to the safe side; --alpha adds the Renyi divergence of that order, and
--alpha with rdp (the divergence of a Gaussian mechanism) stands for --mu.

With --sampling poisson the mechanism is given: in each of rounds every record takes part with probability, independently
and in secret (--adjacency). --noise-multiplier gives the epsilon for --delta, or --epsilon the least noise multiplier.
The epsilon holds; the least one is known within 0.2 % as a rule (docs/sampling.md), and where it is not the output says
so, and what proves the epsilon.

With --sampling allocation the steps are cut into rounds blocks of choices steps, and every record takes part in exactly
one step of each block, drawn at random, in secret (docs/sampling-allocation.md).

With --sampling truncated a round takes at most max of up to records records; the chance that some are dropped
is counted in --delta (docs/sampling-truncated.md).

With --export it is an odometer: what a run has given away after --step steps, to everybody who sees all messages, and not
only when it is over. It is never more than the plan's guarantee. It is for a run whose end does not depend on the records.`,
		Example: `  mafalda epsilon --mu 1 --delta 1e-6              # epsilon
  mafalda epsilon --epsilon 4.88 --delta 1e-6      # mu
  mafalda epsilon --mu 1 --epsilon 4.88            # delta
  mafalda epsilon --mu 1 --delta 1e-6 --alpha 8    # the Renyi divergence of order 8, too
  mafalda epsilon --alpha 8,rdp=4 --delta 1e-6   # from Renyi DP of a Gaussian mechanism
  mafalda epsilon --sampling poisson:probability=0.05,rounds=380 --noise-multiplier 1 --delta 1e-6
  mafalda epsilon --sampling poisson:probability=0.05,rounds=380 --epsilon 8 --delta 1e-6   # noise multiplier
  mafalda epsilon --sampling allocation:choices=19,rounds=20 --noise-multiplier 1 --delta 1e-6
  mafalda epsilon --sampling truncated:probability=0.05,rounds=380,records=1000,max=100 --noise-multiplier 1 --delta 1e-6
  mafalda epsilon --export out --step 12           # what 12 steps of a run have given away
  mafalda epsilon --export out --delta 1e-6        # the whole run, in 20 lines`,
		Args: terminal.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.mu, "mu", 0, "GDP parameter")
	fl.Float64Var(&f.epsilon, "epsilon", 0, "of (epsilon, delta)-DP")
	fl.Float64Var(&f.delta, "delta", 0, "of (epsilon, delta)-DP")
	fl.Float64Var(&f.alpha, "alpha", 0, "Renyi order")
	fl.Float64Var(&f.rdp, "alpha rdp", 0, "Renyi divergence of this order, of a Gaussian mechanism")
	terminal.Family(cmd, "alpha", "")
	f.sampled.bind(cmd)
	f.spent.bind(cmd)
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *epsilonFlags) run(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := f.spent.check(cmd); err != nil {
		return err
	}
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
