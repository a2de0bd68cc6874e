package benchmarks

import "slices"

// KB is (k, b)-participation: k times, b steps apart.
type KB struct{ K, B int }

// Steps returns T = k·b.
func (kb KB) Steps() int { return kb.K * kb.B }

// KB returns the participation that a row is for.
func (r *Row) KB() KB { return KB{r.K, r.B} }

// Participations lists the participations of the rows, each once, in order.
func Participations(rows []Row) []KB {
	var all []KB
	for _, r := range rows {
		if !slices.Contains(all, r.KB()) {
			all = append(all, r.KB())
		}
	}
	return all
}

// GraphNames tells graphs of one name apart.
type GraphNames map[string][]string // the hashes of the files of every name

// NamesOf returns the names of the graphs of rows.
func NamesOf(rows []Row) GraphNames {
	names := GraphNames{}
	for _, r := range rows {
		if !slices.Contains(names[r.Graph], r.SHA256) {
			names[r.Graph] = append(names[r.Graph], r.SHA256)
		}
	}
	return names
}

// Of returns the name of a row's graph, with the start of its hash where there are several of that name.
func (n GraphNames) Of(r *Row) string {
	if len(n[r.Graph]) > 1 {
		return r.Graph + "#" + r.SHA256[:min(8, len(r.SHA256))]
	}
	return r.Graph
}
