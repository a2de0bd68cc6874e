package secrets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
	coalitions, err := readCoalitions(f, g)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	if len(coalitions) == 0 {
		return nil, fmt.Errorf("%s: no coalitions", path)
	}
	return NewAttackers(g.Nodes(), coalitions)
}

func readCoalitions(r io.Reader, g *graph.Graph) ([][]int, error) {
	number := lists.Places(g.Labels())
	var all [][]int
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	at := 1
	for ; lines.Scan(); at++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		var coalition []int
		seen := map[int]bool{}
		for _, label := range fields(line) {
			v, ok := number[label]
			switch {
			case !ok:
				return nil, fmt.Errorf("%d: the network has no node %.60q", at, label)
			case seen[v]:
				return nil, fmt.Errorf("%d: node %q is there twice", at, label)
			}
			seen[v] = true
			coalition = append(coalition, v)
		}
		if len(coalition) == g.Nodes() {
			return nil, fmt.Errorf("%d: a coalition of all %d nodes: there is nobody left to protect", at, g.Nodes())
		}
		all = append(all, coalition)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%d: a line of more than 16 megabytes", at)
	case err != nil:
		return nil, fmt.Errorf("%d: %w", at, err)
	}
	return all, nil
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
