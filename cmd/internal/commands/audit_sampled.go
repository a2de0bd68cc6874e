package commands

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/accounting/sampling"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/participation"
	"mafalda/threat/sampled"
)

// sampledFlags say which batches are claimed, and which ones the nodes really draw.
type sampledFlags struct {
	sampling, actual string
	adjacency        string
	probability      float64
	groups           int
	noiseMultiplier  float64
	epsilon, delta   float64
	largest          sampling.Batches
	knownSeed        bool
}

// Other flags are for audits without --sampling.
var (
	flagsOfSampling = [...]string{"actual", "noise-multiplier", "epsilon", "delta", "adjacency"}
	flagsOfBoth     = [...]string{"sampling", "T", "separation", "export", "runs", "noise-scale", "json"}
)

// check refuses flags of the other kind of audit.
func (f *sampledFlags) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("sampling") {
		return nil
	}
	return terminal.Refuse(cmd, "--%s is not for --sampling: who attacks sees all messages of all nodes",
		othersGiven(cmd, append(flagsOfSampling[:], flagsOfBoth[:]...)...)...)
}

func (f *auditFlags) runSampled(cmd *cobra.Command, bar *terminal.Progress) error {
	a, err := f.chooseSampled(cmd)
	if err != nil {
		return err
	}
	runs := f.runs
	if !terminal.Given(cmd, "runs") {
		runs = sampled.DefaultRuns
	}
	r, err := sampled.Audit(cmd.Context(), a.Scenario, sampled.Options{
		Random: rand.NewPCG(f.auditSeed, 0), Runs: runs, Confidence: f.confidence, NoiseScale: f.noiseScale,
		Noising: a.noising, KnownDraw: f.sampled.knownSeed, Progress: bar.ShowAs("runs")})
	bar.Clear()
	if cmd.Context().Err() != nil {
		return context.Cause(cmd.Context())
	}
	if err != nil {
		return err
	}
	if f.json {
		err = terminal.WriteJSON(cmd.OutOrStdout(), struct {
			Sampling        string  `json:"sampling"`
			Actual          string  `json:"actual"`
			Adjacency       string  `json:"adjacency"`
			KnownSeed       bool    `json:"known_seed,omitempty"`
			NoiseMultiplier float64 `json:"noise_multiplier"`
			NoiseScale      float64 `json:"noise_scale"`
			Confidence      float64 `json:"confidence"`
			sampled.Result
		}{a.claimed.String(), a.Actual.String(), a.Claim.Adjacency.String(), f.sampled.knownSeed, a.NoiseMultiplier,
			f.noiseScale, f.confidence, r})
	} else {
		err = sampledPage(sampledVerdict{a, r, a.claimed, bandsOf(a.Strategy), f.sampled.knownSeed, f.noiseScale,
			f.confidence}).Text(cmd.OutOrStdout())
	}
	if err == nil && !r.Passed {
		err = sampledFailure(r)
	}
	return err
}

// sampledFailure says by how much the claim is exceeded: its epsilon, or else the delta of its curve where that is most.
func sampledFailure(r sampled.Result) error {
	if r.EpsilonLow > r.Epsilon {
		return fmt.Errorf("the attack proves epsilon of at least %s at delta = %s: more than the claimed %s",
			terminal.DecimalDown(r.EpsilonLow, 6), terminal.AsGiven(r.Delta), terminal.DecimalUp(r.Epsilon, 6))
	}
	worst := slices.MaxFunc(r.Points, func(a, b sampled.Point) int {
		return cmp.Compare(a.DeltaLow-a.Delta, b.DeltaLow-b.Delta)
	})
	return fmt.Errorf("the attack proves delta of at least %s at epsilon = %s: more than the claimed %s",
		terminal.DecimalDown(worst.DeltaLow, 6), terminal.DecimalUp(worst.Epsilon, 6), terminal.DecimalUp(worst.Delta, 6))
}

// sampledVerdict is what is audited, with the result.
type sampledVerdict struct {
	sampledAudit
	sampled.Result
	Claimed                participation.Sampling
	Bands                  int
	KnownSeed              bool
	NoiseScale, Confidence float64
}

var sampledPage = document.Page[sampledVerdict](pages, "audit-sampled")
