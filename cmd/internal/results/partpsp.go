package results

import (
	"slices"
	"strconv"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/internal/lists"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
)

type partPSP struct {
	*simulate.PartPSP
	Result *simulate.PartPSPResult
	Model  string // widths of its layers
	From   string // where the sensitivity is from
	Names  []string
	Rows   [][]simulate.PartPSPCell // rows of the table, a cell a network
}

var partPSPPage = document.Page[partPSP](pages, "partpsp")

// PartPSPDocument has a table as Zhou et al., Table II: rows are how much is shared and the noise, columns networks.
func PartPSPDocument(p *simulate.PartPSP, r *simulate.PartPSPResult, source dpps.Source) *document.Document {
	from := map[dpps.Source]string{
		dpps.Omniscient: "the real one, which no node knows: the best that can be expected",
		dpps.Sound:      "estimated with constants that are enough for the network",
		dpps.Paper:      "estimated with the paper's constants, which can be too small"}[source]
	names := lists.Map(p.Networks, func(n simulate.PartPSPNetwork) string { return n.Name })
	return partPSPPage(partPSP{p, r, strings.Join(lists.Map(r.Widths, strconv.Itoa), "-"), from, names,
		slices.Collect(slices.Chunk(r.Cells, len(names)))})
}
