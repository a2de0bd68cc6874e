package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
)

// WritePartPSP prints a table as Zhou et al., Table II: rows are how much is shared and the noise, columns networks.
func WritePartPSP(w io.Writer, p *simulate.PartPSP, r *simulate.PartPSPResult, source dpps.Source) error {
	widths := lists.Map(r.Widths, strconv.Itoa)
	fmt.Fprintf(w, "task           %s, model %s (tanh), %d nodes, %s\n", r.Task, strings.Join(widths, "-"), r.Nodes,
		terminal.Count(r.Cells[0].Rounds, "round"))
	fmt.Fprintf(w, "noise          Laplace of scale %g·S/b in every shared parameter; synchronized every %d rounds\n",
		r.GammaN, r.Sync)
	fmt.Fprintf(w, "sensitivity S  %s\n", map[dpps.Source]string{
		dpps.Omniscient: "the real one, which no node knows: the best that can be expected",
		dpps.Sound:      "estimated with constants that are enough for the network",
		dpps.Paper:      "estimated with the paper's constants, which can be too small"}[source])
	fmt.Fprintf(w, "accuracy       in %%, mean of %s\n\n", terminal.Count(r.Seeds, "run"))
	networks := lists.Map(p.Networks, func(n simulate.PartPSPNetwork) string { return n.Name })
	header := append([]string{"method", "b", "epsilon of a round"}, networks...)
	var rows [][]string
	for at := 0; at < len(r.Cells); at += len(p.Networks) {
		first := r.Cells[at]
		row := []string{p.MethodOf(first.Shared), "no noise", "–"}
		if first.B != nil {
			row[1], row[2] = fmt.Sprintf("%g", *first.B), terminal.DecimalUp(*first.Epsilon, 6)
		}
		for _, c := range r.Cells[at : at+len(p.Networks)] {
			text := fmt.Sprintf("%.2f", 100*c.Accuracy)
			if c.Std != nil {
				text += fmt.Sprintf(" ± %.2f", 100**c.Std)
			}
			if c.Diverged > 0 {
				text += fmt.Sprintf(" (%d diverged)", c.Diverged)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return terminal.Table(w, header, rows)
}
