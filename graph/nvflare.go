package graph

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
