package results

import (
	"fmt"
	"math"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
)

// workloadsDocument compares strategies over optimizers and networks that change: a table for every network and schema,
// a line a workload.
func workloadsDocument(rows []benchmarks.Row) *document.Document {
	d := document.New("benchmark --workloads", "Strategies over optimizers and networks that change, compared with the certified optimum.")
	d.Cells = len(rows)
	names := benchmarks.NamesOf(rows)
	for len(rows) > 0 {
		first := rows[0]
		t := document.Table{Words: 1}
		for len(rows) > 0 && rows[0].Graph == first.Graph && rows[0].SHA256 == first.SHA256 && rows[0].KB() == first.KB() {
			r := rows[0]
			centralized := "-"
			if r.CentralizedLoss > 0 {
				centralized = excess(r.CentralizedExcess)
			}
			t.Row("loss above the certified optimum", r.Workload, "optimal for plain training", excess(r.PlainExcess),
				"centralized, knows the optimizer", centralized, "gap of the optimum", terminal.DecimalUp(r.Gap, 2))
			rows = rows[1:]
		}
		t.Caption = names.Of(&first)
		d.Line("%s, %d nodes, T = %d, k = %d, b = %d", t.Caption, first.Nodes, first.K*first.B, first.K, first.B)
		d.Table(t)
	}
	return d
}

// excess prints by how much a loss is above the optimum's; 0 for a strategy within the gap.
func excess(v float64) string { return fmt.Sprintf("%.1f %%", math.Max(100*v, 0)) }
