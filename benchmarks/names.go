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
		names.add(r.Graph, r.SHA256)
	}
	return names
}

// WorkloadNamesOf is NamesOf for rows of workloads.
func WorkloadNamesOf(rows []WorkloadRow) GraphNames {
	names := GraphNames{}
	for _, r := range rows {
		names.add(r.Graph, r.SHA256)
	}
	return names
}

func (n GraphNames) add(graph, hash string) {
	if !slices.Contains(n[graph], hash) {
		n[graph] = append(n[graph], hash)
	}
}

// Of returns the name of a row's graph, with the start of its hash where there are several of that name.
func (n GraphNames) Of(r *Row) string { return n.name(r.Graph, r.SHA256) }

// OfWorkload is Of for a row of workloads.
func (n GraphNames) OfWorkload(r *WorkloadRow) string { return n.name(r.Graph, r.SHA256) }

func (n GraphNames) name(graph, hash string) string {
	if len(n[graph]) > 1 {
		return graph + "#" + hash[:min(8, len(hash))]
	}
	return graph
}
