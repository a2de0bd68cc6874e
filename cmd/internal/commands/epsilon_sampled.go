package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
)

// sampledEpsilonFlags describe rounds of the Gaussian mechanism on batches that are drawn in secret.
type sampledEpsilonFlags struct {
	sampling        string
	probability     float64
	choices         int
	rounds          int
	noiseMultiplier float64
	batches         sampling.Batches
	adjacency       string
}

// sampledConversion is what epsilon --sampling prints.
type sampledConversion struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Epsilon         float64 `json:"epsilon"`                 // upper bound of ε with NoiseMultiplier
	EpsilonLower    float64 `json:"epsilon_lower,omitempty"` // lower bound; absent for allocation and truncated
	Delta           float64 `json:"delta"`
	Overflow        float64 `json:"overflow,omitempty"` // what truncated takes of Delta

	ProvenBy pld.Source `json:"proven_by,omitempty"` // the accountant that proves Epsilon
}

// check refuses flags that do not go together.
func (f *sampledEpsilonFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if !given("sampling") {
		return nil
	}
	needed := map[string][]string{"poisson": {"probability", "rounds"}, "allocation": {"choices", "rounds"},
		"truncated": {"probability", "rounds", "records", "max"}}[f.sampling]
	part := func(name string) string { return "sampling " + name }
	if a, err := accounting.ParseAdjacency(f.adjacency); err != nil {
		return terminal.Usagef("--adjacency: %w", err)
	} else if a != accounting.ZeroOut && f.sampling == "allocation" {
		return terminal.Usagef("--adjacency %s is not for --sampling allocation, which is accounted for under %v only", f.adjacency,
			accounting.ZeroOut)
	}
	for _, name := range append(lists.Map(needed, part), "delta") {
		if !given(name) {
			return terminal.Usagef("--sampling %s needs %s, and --delta and --noise-multiplier or --epsilon: "+
				"--%s is missing", f.sampling, strings.Join(needed, ", "), name)
		}
	}
	if !given("noise-multiplier") && !given("epsilon") {
		return terminal.Usagef("--sampling %s needs --noise-multiplier, or --epsilon to compute it", f.sampling)
	}
	return nil
}

func (f *epsilonFlags) runSampled(cmd *cobra.Command) error {
	calibrated := cmd.Flags().Changed("epsilon")
	c, err := f.sampled.convert(calibrated, f.epsilon, f.delta)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.json {
		return terminal.WriteJSONLine(w, c)
	}
	f.sampled.print(w, c)
	return nil
}

// convert returns the epsilon of the noise multiplier; for an epsilon, of the noise multiplier that it finds.
func (f *sampledEpsilonFlags) convert(calibrated bool, epsilon, delta float64) (sampledConversion, error) {
	c := sampledConversion{NoiseMultiplier: f.noiseMultiplier, Delta: delta}
	if f.sampling == "allocation" {
		m, err := allocation.New(allocation.Blocks{Choices: f.choices, Rounds: f.rounds})
		if err == nil && calibrated {
			c.NoiseMultiplier, err = m.NoiseMultiplier(epsilon, delta)
		}
		if err == nil {
			c.Epsilon, err = m.Epsilon(delta, c.NoiseMultiplier)
		}
		return c, err
	}
	adjacency, err := accounting.ParseAdjacency(f.adjacency)
	if err != nil {
		return c, err
	}
	rounds := pld.Rounds{Rounds: f.rounds, Mechanism: pld.Mechanism{Probability: f.probability}}
	draw := sampling.Poisson{Rounds: rounds, Groups: 1, Batches: f.batches, Adjacency: adjacency}
	if f.sampling == "truncated" {
		if err := f.batches.Check(); err != nil {
			return c, err
		}
		if !(f.probability > 0 && f.probability <= 1) {
			return c, terminal.Usagef("--sampling probability %v: must be above 0 and at most 1", f.probability)
		}
		c.Overflow = draw.Overflow()
	}
	p := pld.Privacy{NoiseMultiplier: f.noiseMultiplier}
	if calibrated {
		p, err = draw.Calibrate(epsilon, delta)
	} else {
		var b pld.EpsilonBounds
		b, err = draw.Bounds(delta, f.noiseMultiplier)
		p.Epsilon, p.EpsilonLower, p.By = b.Upper, b.Lower, b.By
	}
	if c.NoiseMultiplier, c.Epsilon = p.NoiseMultiplier, p.Epsilon; f.sampling == "poisson" {
		c.EpsilonLower, c.ProvenBy = p.EpsilonLower, p.By
	}
	return c, err
}

func (f *sampledEpsilonFlags) print(w io.Writer, c sampledConversion) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-17s %s\n", name, fmt.Sprintf(format, args...))
	}
	if f.sampling == "allocation" {
		line("mechanism", "%d blocks of %d steps, each record in one of each, drawn at random, in secret", f.rounds, f.choices)
	} else {
		line("mechanism", "%d rounds, each record in each with probability %s, in secret", f.rounds, terminal.AsGiven(f.probability))
	}
	if f.adjacency != accounting.ZeroOut.String() {
		line("adjacency", "%s: a record is replaced by another", f.adjacency)
	}
	line("noise multiplier", "%s", terminal.AsGiven(c.NoiseMultiplier))
	const digits = 8
	epsilon, delta := terminal.DecimalUp(c.Epsilon, digits), terminal.AsGiven(c.Delta)
	switch f.sampling {
	case "truncated":
		line("batches", "of at most %d records, of up to %d", f.batches.Most, f.batches.Records)
		delta += ", of which " + terminal.DecimalUp(c.Overflow, 3) + " is for records that are dropped"
	case "poisson":
		epsilon += " (the least one is not below " + terminal.DecimalDown(c.EpsilonLower, digits) + ")"
	}
	line("epsilon", "%s", epsilon)
	line("delta", "%s", delta)
	if known := (pld.EpsilonBounds{Upper: c.Epsilon, Lower: c.EpsilonLower}); f.sampling == "poisson" && !known.Accurate() {
		line("proven by", "%s", c.ProvenBy.About())
		line("", "the bounds are more than 0.2 %% apart here: this epsilon holds, and may be larger than need be")
	}
}
