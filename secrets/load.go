package secrets

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/lists"
)

// LoadGraph reads the pairs that share a secret from a file as graph.Load reads graphs: an edge list of labels of the
// network's graph g, a MatrixMarket or .npy matrix. Weights mean nothing here. It need not be connected, and nodes that
// it does not name share nothing. A label that g does not have is an error.
func LoadGraph(path string, g *graph.Graph) (*Graph, error) {
	loaded, _, err := graph.Load(path, graph.LoadOptions{})
	if err != nil {
		return nil, err
	}
	number := lists.Places(g.Labels())
	for _, label := range loaded.Labels() {
		if _, ok := number[label]; !ok {
			return nil, fmt.Errorf("%s: the network has no node %q", path, label)
		}
	}
	var pairs []Pair
	for _, p := range OfEdges(loaded).pairs {
		pairs = append(pairs, Pair{number[loaded.Label(p.U)], number[loaded.Label(p.V)]})
	}
	s, err := NewGraph(g.Nodes(), pairs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// LoadAttackers reads coalitions from a text file: a coalition a line, labels of the network's graph g between commas
// or, where a line has none, white space. Empty lines and lines that start with # do not count. Nodes that it does not
// name are trusted. Errors name file and line: a label that g does not have or that is there twice, a coalition of all
// nodes, a file without coalitions.
func LoadAttackers(path string, g *graph.Graph) (*Attackers, error) {
	f, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	number := lists.Places(g.Labels())
	var coalitions [][]int
	_, err = files.Lines(f, path, func(line string, _ int) error {
		if line == "" || line[0] == '#' {
			return nil
		}
		var coalition []int
		for _, label := range fields(line) {
			v, ok := number[label]
			switch {
			case !ok:
				return fmt.Errorf("the network has no node %.60q", label)
			case slices.Contains(coalition, v):
				return fmt.Errorf("node %q is there twice", label)
			}
			coalition = append(coalition, v)
		}
		coalitions = append(coalitions, coalition)
		_, err := NewAttackers(g.Nodes(), [][]int{coalition})
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(coalitions) == 0 {
		return nil, fmt.Errorf("%s: no coalitions", path)
	}
	return NewAttackers(g.Nodes(), coalitions)
}

// fields splits a line at commas if there are any, at white space otherwise.
func fields(line string) []string {
	if !strings.Contains(line, ",") {
		return strings.Fields(line)
	}
	parts := strings.Split(line, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
