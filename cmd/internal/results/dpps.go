package results

import (
	"fmt"
	"io"
	"strconv"

	"mafalda/cmd/internal/terminal"
	"mafalda/protocols/dpps"
)

// WriteDPPS prints what came of DPPS, whose constants are from a source.
func WriteDPPS(w io.Writer, r *dpps.Result, source dpps.Source) error {
	fmt.Fprintf(w, "graph          %s: %d nodes, the weights repeat after %s\n", r.Graph, r.Nodes, terminal.Count(r.Period, "round"))
	fmt.Fprintf(w, "protocol       dpps: push-sum, Laplace noise of scale %g·S/%g in every message", r.NoiseRate, r.B)
	if r.Sync > 0 {
		fmt.Fprintf(w, ", synchronized after every %d rounds", r.Sync)
	}
	fmt.Fprintln(w)
	writeConstants(w, r, source)
	atMost, numbers := "", 1 // S_i; and for the other estimate what was added, without and with noise
	if r.Nodes > dpps.MostFlooded {
		atMost = "at most "
	}
	if len(r.Ergodicity) > 0 {
		numbers = 3
	}
	fmt.Fprintf(w, "broadcast      max-consensus takes %s%s of %s, before every round\n", atMost,
		terminal.Count(r.Broadcast, "round"), terminal.Count(numbers, "number"))
	fmt.Fprintf(w, "average        %.10g; %s\n\n", r.Mean, roundsText(r.Errors))
	var rows [][]string
	for i, p := range r.Rounds {
		if i >= shownPairs && i < len(r.Rounds)-1 {
			continue
		}
		ratio, mark := "–", ""
		if r.Moves(p.Estimated) {
			ratio = fmt.Sprintf("%.3f", p.Real/p.Estimated)
		}
		if p.Synchronized {
			mark = "yes"
		}
		rows = append(rows, []string{strconv.Itoa(p.Round), terminal.NumberUp(p.Estimated), terminal.NumberUp(p.Real), ratio, mark,
			terminal.Number(r.Errors[i+1])})
	}
	header := []string{"round", "estimated S", "real", "real/estimated", "synchronized", "error after it"}
	if err := terminal.Table(w, header, rows); err != nil {
		return err
	}
	writeGuarantee(w, r)
	return nil
}

func writeConstants(w io.Writer, r *dpps.Result, source dpps.Source) {
	if source == dpps.Omniscient {
		fmt.Fprintf(w, "sensitivity    the real one, which no node knows: for comparison only\n")
		return
	}
	from := map[dpps.Source]string{dpps.Given: "given", dpps.Paper: "of the paper's experiments",
		dpps.Sound: "enough for this network, whatever its nodes add"}[source]
	fmt.Fprintf(w, "sensitivity    recursion with C' = %s, lambda = %s (%s)\n", terminal.DecimalUp(r.C, 6), terminal.DecimalUp(r.Lambda, 6),
		from)
	if last := len(r.Ergodicity) - 1; last >= 0 {
		fmt.Fprintf(w, "               or 2·Σ tau_s·(the largest addition s rounds ago), if that is less: tau_1 = %s, "+
			"tau_%d = %s\n", terminal.DecimalUp(r.Ergodicity[1], 4), last, terminal.DecimalUp(r.Ergodicity[last], 2))
	}
	if r.Sound != nil && !*r.Sound {
		fmt.Fprintf(w, "               NOT sound on this network: with this lambda C' must be %s or more\n",
			terminal.DecimalUp(r.Needed, 6))
	}
}

func writeGuarantee(w io.Writer, r *dpps.Result) {
	fmt.Fprintf(w, "\nsensitivity    real/estimated %.3f on average, %s at most\n", r.MeanRatio, terminal.DecimalUp(r.MostRatio, 3))
	fmt.Fprintf(w, "privacy        a round: epsilon = b/gamma-n = %s. It hides, given S, whose message an answer is "+
		"(the paper's Definition 4)\n", terminal.DecimalUp(r.Epsilon, 6))
	const large = 10
	if r.Epsilon > large {
		fmt.Fprintln(w, "               so large an epsilon hides next to nothing; under a small one noise drowns the "+
			"average (--laplace-b)")
	}
	fmt.Fprintf(w, "               %s: the paper says nothing. %s by basic composition, %s for delta = %g by advanced, "+
		"if rounds had noise of\n", terminal.Count(len(r.Rounds), "round"), terminal.DecimalUp(r.Basic, 6), terminal.DecimalUp(r.Advanced, 6), r.Delta)
	fmt.Fprintf(w, "               their own; they do not, and who hears the next S learns the size of the noise before: "+
		"this is no guarantee\n")
	fmt.Fprintf(w, "               not hidden: the numbers that are broadcast. In round 0 they say how large a value is "+
		"(docs/protocols.md)\n")
}
