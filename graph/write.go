package graph

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"mafalda/internal/files"
)

// WriteFiles writes a network to the folder dir, which is made if it is missing: the edges (edges.tsv), the gossip
// matrix (gossip.mtx), and number, label and degree of every node (nodes.csv). Each file is written atomically, and
// replaces one that is there with force only; else that is files.ErrExists.
func (n *Network) WriteFiles(dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"edges.tsv", func(w io.Writer) error { return WriteEdges(w, n.Graph) }},
		{"gossip.mtx", func(w io.Writer) error { return WriteMatrixMarket(w, n.Gossip.Matrix()) }},
		{"nodes.csv", func(w io.Writer) error { return WriteNodes(w, n.Graph) }},
	} {
		if err := files.WriteFile(filepath.Join(dir, file.name), file.write, force); err != nil {
			_ = os.Remove(dir) // only if it is empty
			return err
		}
	}
	return nil
}

// WriteNodes writes the numbering of the nodes as CSV with the columns index, label, degree.
func WriteNodes(w io.Writer, g *Graph) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"index", "label", "degree"}); err != nil {
		return err
	}
	for i, l := range g.Labels() {
		if err := c.Write([]string{strconv.Itoa(i), l, strconv.Itoa(g.Degree(i))}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// NVFlare is a network as the peer-to-peer executors of NVFlare take it (nvflare.app_opt.p2p.types.Config), with the
// field names of its JSON.
type NVFlare struct {
	Network struct {
		Nodes []NVFlareNode `json:"nodes"`
	} `json:"network"`
}

// NVFlareNode is a site and its neighbours with their weights. Its own weight is 1 minus the neighbours' weights.
type NVFlareNode struct {
	ID        string            `json:"id"`
	Neighbors []NVFlareNeighbor `json:"neighbors"`
}

// NVFlareNeighbor is a site with its weight in the average of another one.
type NVFlareNeighbor struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"`
}

// NVFlare returns the network with its gossip weights: the entries of W that are not on the diagonal, row by row. The
// sites have the labels of the nodes.
func (n *Network) NVFlare() NVFlare {
	var c NVFlare
	labels := n.Graph.Labels()
	w := n.Gossip.Matrix()
	for i, label := range labels {
		node := NVFlareNode{ID: label, Neighbors: []NVFlareNeighbor{}}
		w.DoRowNonZero(i, func(_, j int, weight float64) {
			if j != i {
				node.Neighbors = append(node.Neighbors, NVFlareNeighbor{labels[j], weight})
			}
		})
		c.Network.Nodes = append(c.Network.Nodes, node)
	}
	return c
}
