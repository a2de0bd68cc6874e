package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"mafalda/internal/study"
	"mafalda/strategy"
)

// Strategy returns the strategy that node i runs, made from its parameters if there are no matrices. The errors are
// those of Node, and of parameters or a matrix that are none of a strategy.
func (e *Export) Strategy(i int) (strategy.Strategy, error) {
	layer, err := e.Node(i)
	if err != nil {
		return nil, err
	}
	var c strategy.Strategy
	if layer.C == nil {
		c, err = e.Manifest.Strategy.Build(e.Manifest.Steps)
	} else {
		c, err = strategy.NewDense(layer.C)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	return c, nil
}

// Digest is a SHA-256 that stands for every byte of an export whose hashes have been checked (CheckHashes): they are in
// its manifest.
func (e *Export) Digest() (string, error) {
	text, err := json.Marshal(e.Manifest)
	d := study.NewDigest()
	d.Bytes(text)
	return d.Sum(), err
}

// NodeLine is what nodes.csv says of a node, besides its label.
type NodeLine struct {
	Index  int // its place among the nodes, as in PerNode.Layers
	Degree int // in the graph
}

// Nodes returns what nodes.csv says, by label, of an export whose nodes have strategies of their own. The errors are a
// file that is missing, and lines that are not those of a node each, in the order of their indices.
func (e *Export) Nodes() (map[string]NodeLine, error) {
	if e.Manifest.PerNode == nil {
		return nil, fmt.Errorf("%s: all nodes share one strategy", e.Dir)
	}
	text, err := e.Read("nodes.csv")
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nodes.csv: %w", err)
	}
	have := len(e.Manifest.PerNode.Layers)
	nodes := map[string]NodeLine{}
	for i, line := range lines[min(1, len(lines)):] {
		index, noIndex := strconv.Atoi(line[0])
		if len(line) != 3 || noIndex != nil || index != i || i >= have {
			return nil, fmt.Errorf("nodes.csv: line %d is none of a node", i+2)
		}
		degree, noDegree := strconv.Atoi(line[2])
		if _, twice := nodes[line[1]]; twice || noDegree != nil {
			return nil, fmt.Errorf("nodes.csv: line %d is none of a node", i+2)
		}
		nodes[line[1]] = NodeLine{Index: index, Degree: degree}
	}
	if len(nodes) != have {
		return nil, fmt.Errorf("nodes.csv: %d nodes, where %d have strategies", len(nodes), have)
	}
	return nodes, nil
}
