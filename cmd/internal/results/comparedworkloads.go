package results

import (
	"fmt"
	"io"
	"math"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
)

// WriteWorkloads writes a table for every network and schema, a line a workload. dir is where the rows are kept, if
// anywhere.
func WriteWorkloads(w io.Writer, rows []benchmarks.Row, dir string) error {
	names := benchmarks.NamesOf(rows)
	header := []string{"loss above the certified optimum", "optimal for plain training",
		"centralized, knows the optimizer", "gap of the optimum"}
	for len(rows) > 0 {
		first := rows[0]
		var lines [][]string
		for len(rows) > 0 && sameTable(&rows[0], &first) {
			r := rows[0]
			centralized := "-"
			if r.CentralizedLoss > 0 {
				centralized = excess(r.CentralizedExcess)
			}
			lines = append(lines, []string{r.Workload, excess(r.PlainExcess), centralized, terminal.DecimalUp(r.Gap, 2)})
			rows = rows[1:]
		}
		fmt.Fprintf(w, "%s, %d nodes, T = %d, k = %d, b = %d\n", names.Of(&first), first.Nodes, first.K*first.B,
			first.K, first.B)
		if err := terminal.Table(w, header, lines); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if dir != "" {
		fmt.Fprintf(w, "written  %s\n", dir)
	}
	return nil
}

func sameTable(a, b *benchmarks.Row) bool {
	return a.Graph == b.Graph && a.SHA256 == b.SHA256 && a.K == b.K && a.B == b.B
}

// excess prints by how much a loss is above the optimum's; that of a strategy within the gap of it is 0.
func excess(v float64) string { return fmt.Sprintf("%.1f %%", math.Max(100*v, 0)) }
