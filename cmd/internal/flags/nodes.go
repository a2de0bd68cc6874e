package flags

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
)

// NodesNamed returns the nodes that a flag names: one label, as it is, or several with commas between them. A label
// that has commas itself is quoted as in CSV: '"Smith, J",b'. No node may be named twice.
func NodesNamed(flag, text string, g *graph.Graph) ([]int, error) {
	number := lists.Places(g.Labels())
	if v, ok := number[text]; ok {
		return []int{v}, nil
	}
	labels := strings.Split(text, ",")
	unknown := func(l string) bool { _, ok := number[strings.TrimSpace(l)]; return !ok }
	if slices.ContainsFunc(labels, unknown) {
		r := csv.NewReader(strings.NewReader(strings.TrimSpace(text)))
		r.LazyQuotes, r.TrimLeadingSpace = true, true
		if quoted, err := r.ReadAll(); err == nil && len(quoted) == 1 && strings.Contains(text, `"`) {
			labels = quoted[0]
		}
	}
	var nodes []int
	for _, l := range labels {
		l = strings.TrimSpace(l)
		v, ok := number[l]
		switch {
		case !ok:
			return nil, terminal.Usagef("--%s %s: the graph has no such node%s", flag, l, nodeMeant(l, g.Labels()))
		case slices.Contains(nodes, v):
			return nil, terminal.Usagef("--%s %s is named twice", flag, l)
		}
		nodes = append(nodes, v)
	}
	return nodes, nil
}

// nodeMeant asks for the node that may have been meant, if it has a name and not a number.
func nodeMeant(label string, labels []string) string {
	if _, err := strconv.Atoi(label); err == nil {
		return ""
	}
	return terminal.DidYouMean(label, labels)
}

// ExportedNode returns the index of the node of an export that a flag names by its label; without a label the first. Where
// no label is like this, an index is one, too, as it was before labels were taken.
func ExportedNode(flag, label string, e *export.Export) (index int, of string, err error) {
	labels, err := e.NodeLabels()
	if err != nil {
		return 0, "", terminal.Usage(err)
	}
	if label == "" {
		return 0, append(labels, "")[0], nil
	}
	if i := slices.Index(labels, label); i >= 0 {
		return i, label, nil
	}
	if i, err := strconv.Atoi(label); err == nil && i >= 0 && i < len(labels) {
		return i, labels[i], nil
	}
	return 0, "", terminal.Usagef("--%s %q: %s has no such node%s", flag, label, e.Dir, terminal.DidYouMean(label, labels))
}
