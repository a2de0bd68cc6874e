package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/plan"
)

// sampling says how nodes draw their batches.
func (r *Summary) sampling() {
	s := r.Manifest.Sampling
	r.Fact("sampling", "%s, in secret: %s;", s.Scheme, strings.ReplaceAll(s.How(), "; ", ";\n"))
	if s.Overflow > 0 {
		r.More("a given record is drawn for a step that drops some with a probability of at most %s;", terminal.NumberUp(s.Overflow))
	}
	r.More("batches count with their expected size, not with the real one")
	r.More("(a permutation that is cut into equal batches is another mechanism)")
}

// bands compares the strategies that were searched, and the optimum for batches in turn.
func (r *Summary) bands() {
	m := r.Manifest
	t := document.Table{Caption: "Strategies for secret batches at equal privacy", Words: 1}
	row := func(first [3]string, noise, squared, error float64, kept int) {
		names := [3]string{"bands", "probability", "rounds"}
		if m.Binned() {
			names = [3]string{"strategy", "optimized for", "estimated"}
		}
		multiplier := ""
		if noise > 0 {
			multiplier = terminal.NumberUp(noise)
		}
		t.Row(names[0], first[0], names[1], first[1], names[2], first[2], "noise multiplier", multiplier,
			"squared error", terminal.NumberUp(squared), "error at privacy", terminal.NumberUp(error),
			"of cyclic", fmt.Sprintf("%.4f", error/m.CyclicErrorAtPrivacy), "rows kept", fmt.Sprint(kept))
	}
	best := slices.Min(append(lists.Map(r.candidates, func(c plan.Bands) float64 { return c.ErrorAtPrivacy }), math.Inf(1)))
	for _, c := range r.candidates {
		first, kept := [3]string{fmt.Sprint(c.Bandwidth), fmt.Sprintf("%.6g", c.Probability), fmt.Sprint(c.Rounds)}, c.Bandwidth-1
		if m.Binned() {
			first = [3]string{terminal.Count(c.Bandwidth, "band"), "known draw", terminal.NumberUp(c.Privacy.Estimated)}
			switch {
			case c.For == participation.Bins:
				first[1] = "bins"
			case c.Bandwidth == 1:
				first[0] += ", DP-D-SGD"
			}
			if c.Bandwidth == m.Steps {
				first[0], kept = "dense", m.Steps
			}
		}
		if c.ErrorAtPrivacy == best {
			first[0] += " (best)"
		}
		row(first, c.NoiseMultiplier, c.SquaredError, c.ErrorAtPrivacy, kept)
	}
	row([3]string{"dense, in turn"}, 0, r.Solution.Cyclic.SquaredError, m.CyclicErrorAtPrivacy, m.Steps)
	r.Table(t)
}

// compared says what the best candidate is better than, and what is not known of it.
func (r *Summary) compared() {
	if r.Manifest.Binned() {
		r.uncertified()
		return
	}
	if r.Solution == nil {
		return // which numbers of bands were tried is not in a manifest
	}
	most := fmt.Sprintf("b = %d", r.Solution.Problem.Schema.Separation())
	if b := r.Solution.Options.Budget; b != nil && b.Floats()+1 < r.Solution.Problem.Schema.Separation() {
		most = fmt.Sprintf("the %d that fit", b.Floats()+1)
	}
	switch n := r.Solution.Excluded; n {
	case 0:
	case 1:
		r.Fact("bands", "the other one, up to %s, is proven to have no smaller error", most)
	default:
		r.Fact("bands", "the other %d numbers of bands, up to %s, are proven to have no smaller error", n, most)
	}
}

// secretBound says what no strategy is better than under the sampling.
func (r *Summary) secretBound() {
	m := r.Manifest
	if !m.Sampled() || m.Sampling.LowerBound == 0 {
		return
	}
	r.Fact("lower bound", "no strategy, whatever its class, has a smaller error under this sampling than %s,",
		terminal.DecimalDown(m.Sampling.LowerBound, 6))
	r.More("%s of the error of this one", terminal.DecimalDown(m.Sampling.LowerBound/m.ErrorAtPrivacy, 3))
}

// uncertified says what strategies without negative entries are known to be, and what the sign costs.
func (r *Summary) uncertified() {
	m := r.Manifest
	r.Fact("certificate", "the strategies are local optima among those without negative entries,")
	r.More("the only ones whose privacy is proved for bins")
	for _, c := range r.candidates {
		if c.Bandwidth == m.Steps && c.For == participation.InTurn {
			r.Fact("sign", "costs the dense strategy at most %s of the loss when the draw is known",
				terminal.DecimalUp(c.SquaredError/m.LowerBound-1, 3))
		}
	}
	if m.Sampling.Samples == 0 {
		r.Fact("confidence", "none is needed: the noise of this strategy follows from a bound that takes no samples")
	} else {
		r.Fact("confidence", "noise for all of these strategies is enough but for a chance of %.2g (%d samples, seed %d);",
			m.Sampling.Failure, m.Sampling.Samples, *m.Sampling.Seed)
		r.More("without that confidence, the samples put the least noise multiplier of the best at %s",
			terminal.NumberUp(m.Sampling.NoiseMultiplierEstimate))
	}
	if ratio := r.dpdsgdRatio; ratio > 0 && ratio < 0.995 {
		r.Fact("poisson", "DP-D-SGD with Poisson sampling has %s of this error",
			terminal.DecimalUp(ratio, 2))
	}
}

// inTurn says where batches in secret cost more than ones that attackers may know: at a large ε.
func (r *Summary) inTurn() {
	m := r.Manifest
	if ratio := m.CyclicErrorAtPrivacy / m.ErrorAtPrivacy; m.Sampled() && ratio > 0 && ratio < 0.995 {
		r.Fact("in turn", "the dense optimum for batches in turn has %s of this error, and needs no secret",
			terminal.DecimalUp(ratio, 2))
	}
}
