package graph_test

import (
	"encoding/json"
	"math"
	"testing"

	"mafalda/graph"
)

// What an NVFlare site averages with is W.
func TestNVFlare(t *testing.T) {
	for _, source := range []string{"florentine", "star:5", "path:1"} {
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		w, labels := n.Gossip.Matrix(), n.Graph.Labels()
		nodes := n.NVFlare().Network.Nodes
		if len(nodes) != len(labels) {
			t.Fatalf("%s: %d sites", source, len(nodes))
		}
		for i, node := range nodes {
			own := 1.0
			for _, other := range node.Neighbors {
				own -= other.Weight
				for j, label := range labels {
					if label == other.ID && (w.At(i, j) != other.Weight || i == j) {
						t.Errorf("%s: %s averages over %+v, W has %v", source, node.ID, other, w.At(i, j))
					}
				}
			}
			if node.ID != labels[i] || math.Abs(own-w.At(i, i)) > 1e-15 {
				t.Errorf("%s: %s keeps %v of its own, W has %v", source, node.ID, own, w.At(i, i))
			}
		}
	}
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:2"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"network":{"nodes":[{"id":"0","neighbors":[{"id":"1","weight":0.5}]},{"id":"1","neighbors":[{"id":"0","weight":0.5}]}]}}`
	if text, err := json.Marshal(n.NVFlare()); err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
