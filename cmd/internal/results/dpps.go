package results

import (
	"fmt"
	"strconv"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/protocols/dpps"
)

// DPPSDocument says what came of DPPS, whose constants are from a source.
func DPPSDocument(r *dpps.Result, source dpps.Source) *document.Document {
	d := averageDocument()
	d.Fact("graph", "%s: %d nodes, the weights repeat after %s", r.Graph, r.Nodes, terminal.Count(r.Period, "round"))
	synchronized := ""
	if r.Sync > 0 {
		synchronized = fmt.Sprintf(", synchronized after every %d rounds", r.Sync)
	}
	d.Fact("protocol", "dpps: push-sum, Laplace noise of scale %g·S/%g in every message%s", r.NoiseRate, r.B, synchronized)
	d.Fact("sensitivity", "%s", constantsText(r, source))
	atMost, numbers := "", 1 // S_i; and for the other estimate what was added, without and with noise
	if r.Nodes > dpps.MostFlooded {
		atMost = "at most "
	}
	if len(r.Ergodicity) > 0 {
		numbers = 3
	}
	d.Fact("broadcast", "max-consensus takes %s%s of %s, before every round", atMost, terminal.Count(r.Broadcast, "round"),
		terminal.Count(numbers, "number"))
	d.Fact("average", "%.10g; %s", r.Mean, roundsText(r.Errors))
	t := document.Table{Caption: "Rounds"}
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
		t.Row("round", strconv.Itoa(p.Round), "estimated S", terminal.NumberUp(p.Estimated), "real", terminal.NumberUp(p.Real),
			"real/estimated", ratio, "synchronized", mark, "error after it", terminal.Number(r.Errors[i+1]))
	}
	d.Table(t)
	d.Fact("sensitivity", "real/estimated %.3f on average, %s at most", r.MeanRatio, terminal.DecimalUp(r.MostRatio, 3))
	text := fmt.Sprintf("a round: epsilon = b/gamma-n = %s. It hides, given S, whose message an answer is (the paper's Definition 4)\n",
		terminal.DecimalUp(r.Epsilon, 6))
	const large = 10
	if r.Epsilon > large {
		text += "so large an epsilon hides next to nothing; under a small one noise drowns the average (--push-sum laplace-b)\n"
	}
	text += fmt.Sprintf("%s: the paper says nothing. %s by basic composition, %s for delta = %g by advanced, if rounds had noise of\n"+
		"their own; they do not, and who hears the next S learns the size of the noise before: this is no guarantee\n"+
		"not hidden: the numbers that are broadcast. In round 0 they say how large a value is (docs/protocols.md)",
		terminal.Count(len(r.Rounds), "round"), terminal.DecimalUp(r.Basic, 6), terminal.DecimalUp(r.Advanced, 6), r.Delta)
	d.Fact("privacy", "%s", text)
	return d
}

// constantsText says where estimates of the sensitivity are from.
func constantsText(r *dpps.Result, source dpps.Source) string {
	if source == dpps.Omniscient {
		return "the real one, which no node knows: for comparison only"
	}
	from := map[dpps.Source]string{dpps.Given: "given", dpps.Paper: "of the paper's experiments",
		dpps.Sound: "enough for this network, whatever its nodes add"}[source]
	text := fmt.Sprintf("recursion with C' = %s, lambda = %s (%s)", terminal.DecimalUp(r.C, 6), terminal.DecimalUp(r.Lambda, 6), from)
	if last := len(r.Ergodicity) - 1; last >= 0 {
		text += fmt.Sprintf("\nor 2·Σ tau_s·(the largest addition s rounds ago), if that is less: tau_1 = %s, tau_%d = %s",
			terminal.DecimalUp(r.Ergodicity[1], 4), last, terminal.DecimalUp(r.Ergodicity[last], 2))
	}
	if r.Sound != nil && !*r.Sound {
		text += fmt.Sprintf("\nNOT sound on this network: with this lambda C' must be %s or more", terminal.DecimalUp(r.Needed, 6))
	}
	return text
}
