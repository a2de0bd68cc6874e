package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/participation"
)

// sampledEpsilonFlags describe rounds of the Gaussian mechanism on batches that are drawn in secret.
type sampledEpsilonFlags struct {
	sampling        participation.Scheme
	probability     float64
	choices         int
	rounds          int
	noiseMultiplier float64
	batches         sampling.Batches
	adjacency       accounting.Adjacency
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
	n := f.numbers()
	if err := n.CheckAdjacency(); err != nil {
		return err
	}
	needed := n.Kind().Traits().Parameters
	part := func(name string) string { return "sampling " + name }
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
	return roundsPage(sampledRounds{c, f.sampled.numbers()}).Text(w)
}

// numbers returns what the flags say of the draws, of one group.
func (f *sampledEpsilonFlags) numbers() (n sampling.Numbers) {
	n.Of, n.Adjacency = f.sampling, f.adjacency
	n.Batches, n.Steps, n.Groups, n.Rounds, n.Probability = f.batches, f.choices*f.rounds, 1, f.rounds, f.probability
	return n
}

// convert returns the epsilon of the noise multiplier; for an epsilon, of the noise multiplier that it finds.
func (f *sampledEpsilonFlags) convert(calibrated bool, epsilon, delta float64) (sampledConversion, error) {
	c := sampledConversion{NoiseMultiplier: f.noiseMultiplier, Delta: delta}
	n := f.numbers()
	d, err := n.Draw()
	if err != nil {
		return c, err
	}
	if calibrated {
		if c.NoiseMultiplier, err = d.NoiseMultiplier(epsilon, delta); err != nil {
			return c, err
		}
	}
	b, overflow, err := sampling.BoundsOf(d, delta, c.NoiseMultiplier)
	c.Epsilon, c.EpsilonLower, c.ProvenBy, c.Overflow = b.Upper, b.Lower, b.By, overflow
	return c, err
}

// sampledRounds is a conversion with the rounds that it is of.
type sampledRounds struct {
	sampledConversion
	sampling.Numbers
}

var roundsPage = document.Page[sampledRounds](pages, "rounds")

// Condition says what the guarantee takes.
func (r sampledRounds) Condition() string { return r.Kind().Condition(r.Numbers) }

// Loose reports whether ε may be larger than need be.
func (r sampledRounds) Loose() bool {
	known := pld.EpsilonBounds{Upper: r.Epsilon, Lower: r.EpsilonLower}
	return r.ProvenBy != "" && !known.Accurate()
}
