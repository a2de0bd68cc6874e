package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/internal/cli"
)

type epsilonFlags struct {
	mu, epsilon, delta, alpha, rdp float64
	json                           bool
}

func newEpsilonCmd() *cobra.Command {
	var f epsilonFlags
	cmd := &cobra.Command{
		Use:   "epsilon",
		Short: "Convert between mu-GDP, (epsilon, delta) and Renyi DP",
		Long: `Convert between the parameters of Gaussian DP, approximate DP and Renyi DP. Give two of --mu, --epsilon and --delta
and the third is computed, exactly and rounded to the safe side; --alpha adds the Renyi divergence of that order, and
--alpha with --rdp (the divergence of a Gaussian mechanism) stands for --mu.`,
		Example: `  mafalda epsilon --mu 1 --delta 1e-6              # epsilon
  mafalda epsilon --epsilon 4.88 --delta 1e-6      # mu
  mafalda epsilon --mu 1 --epsilon 4.88            # delta
  mafalda epsilon --mu 1 --delta 1e-6 --alpha 8    # the Renyi divergence of order 8, too
  mafalda epsilon --alpha 8 --rdp 4 --delta 1e-6   # from Renyi DP of a Gaussian mechanism`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.mu, "mu", 0, "GDP parameter")
	fl.Float64Var(&f.epsilon, "epsilon", 0, "of (epsilon, delta)-DP")
	fl.Float64Var(&f.delta, "delta", 0, "of (epsilon, delta)-DP")
	fl.Float64Var(&f.alpha, "alpha", 0, "Renyi order")
	fl.Float64Var(&f.rdp, "rdp", 0, "Renyi divergence of order alpha")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// conversion is what epsilon prints; absent is what was neither given nor computed.
type conversion struct {
	Mu           float64  `json:"mu"`
	Epsilon      *float64 `json:"epsilon,omitempty"`
	Delta        *float64 `json:"delta,omitempty"` // the smallest positive number where it underflows
	LogDelta     *float64 `json:"log_delta,omitempty"`
	Alpha        *float64 `json:"alpha,omitempty"`
	RDP          *float64 `json:"rdp,omitempty"`
	EpsilonByRDP *float64 `json:"epsilon_by_rdp,omitempty"` // what an accountant that only knows Renyi DP reports
}

func (f *epsilonFlags) run(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	c, err := f.convert(given)
	if err != nil {
		return cli.Usage(err)
	}
	w := cmd.OutOrStdout()
	if f.json {
		return json.NewEncoder(w).Encode(c)
	}
	c.print(w, given)
	return nil
}

// print writes given numbers as they are, and the others on the safe side: a μ for an (ε, δ) down, all else up.
func (c *conversion) print(w io.Writer, given func(string) bool) {
	const digits = accounting.MuDigits
	text := func(name string, v float64) string {
		switch {
		case given(name):
			return cli.AsGiven(v)
		case name == "mu" && given("epsilon") && given("delta"):
			return cli.DecimalDown(v, digits)
		}
		return cli.DecimalUp(v, digits)
	}
	fmt.Fprintf(w, "mu       %s\n", text("mu", c.Mu))
	if c.Epsilon != nil {
		fmt.Fprintf(w, "epsilon  %s\n", text("epsilon", *c.Epsilon))
	}
	switch {
	case c.LogDelta != nil && *c.Delta == math.SmallestNonzeroFloat64:
		fmt.Fprintf(w, "delta    exp(%s)\n", cli.DecimalUp(*c.LogDelta, digits))
	case c.Delta != nil:
		fmt.Fprintf(w, "delta    %s\n", text("delta", *c.Delta))
	}
	if c.RDP != nil {
		fmt.Fprintf(w, "rdp      %s of order %g\n", text("rdp", *c.RDP), *c.Alpha)
	}
	if c.EpsilonByRDP != nil {
		fmt.Fprintf(w, "         (by Renyi DP alone: epsilon %s)\n", cli.DecimalUp(*c.EpsilonByRDP, digits))
	}
}

func (f *epsilonFlags) convert(given func(string) bool) (*conversion, error) {
	c := &conversion{Mu: f.mu}
	var err error
	hasMu := given("mu")
	if given("rdp") {
		if hasMu || !given("alpha") {
			return nil, fmt.Errorf("--rdp needs --alpha, and stands for --mu")
		}
		if c.Mu, err = accounting.MuFromRDP(f.alpha, f.rdp); err != nil {
			return nil, err
		}
		hasMu = true
	}
	switch hasEpsilon, hasDelta := given("epsilon"), given("delta"); {
	case hasMu && hasEpsilon && hasDelta:
		return nil, fmt.Errorf("give two of mu, epsilon and delta, not three")
	case hasMu && hasDelta:
		err = c.fromMuDelta(f.delta)
	case hasMu && hasEpsilon:
		err = c.fromMuEpsilon(f.epsilon)
	case hasEpsilon && hasDelta:
		c.Epsilon, c.Delta = &f.epsilon, &f.delta
		c.Mu, err = accounting.MuFromDP(f.epsilon, f.delta)
	case !hasMu || !given("alpha"):
		return nil, fmt.Errorf("give two of --mu, --epsilon and --delta, or --mu and --alpha")
	}
	if err == nil && given("alpha") {
		c.Alpha, c.RDP = &f.alpha, &f.rdp
		if !given("rdp") {
			f.rdp, err = accounting.RDP(c.Mu, f.alpha)
		}
	}
	return c, err
}

func (c *conversion) fromMuDelta(delta float64) error {
	epsilon, err := accounting.Epsilon(c.Mu, delta)
	if err != nil {
		return err
	}
	byRDP, _, err := accounting.EpsilonByRDP(c.Mu, delta)
	c.Epsilon, c.Delta, c.EpsilonByRDP = &epsilon, &delta, &byRDP
	return err
}

func (c *conversion) fromMuEpsilon(epsilon float64) error {
	logDelta, err := accounting.LogDelta(c.Mu, epsilon)
	if err != nil {
		return err
	}
	delta, err := accounting.Delta(c.Mu, epsilon)
	c.Epsilon, c.Delta, c.LogDelta = &epsilon, &delta, &logDelta
	return err
}
