package results

import (
	"mafalda/cmd/internal/document"
	"mafalda/protocols/dpps"
)

type dppsAveraged struct {
	*dpps.Result
	Last                        int    // last round, counted from 0
	From                        string // where the constants are from
	Omniscient, Unsound, AtMost bool
}

var dppsPage = document.Page[dppsAveraged](pages, "dpps")

// DPPSDocument says what came of DPPS, whose constants are from a source.
func DPPSDocument(r *dpps.Result, source dpps.Source) *document.Document {
	from := map[dpps.Source]string{dpps.Given: "given", dpps.Paper: "of the paper's experiments",
		dpps.Sound: "enough for this network, whatever its nodes add"}[source]
	return dppsPage(dppsAveraged{r, len(r.Rounds) - 1, from, source == dpps.Omniscient, r.Sound != nil && !*r.Sound,
		r.Nodes > dpps.MostFlooded})
}
