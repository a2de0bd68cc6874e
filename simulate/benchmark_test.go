package simulate

import (
	"testing"

	"mafalda/graph"
)

// BenchmarkRun is a run of the size of the paper's experiment on the ego graph: 148 nodes, T = 320, 641 parameters, 16,512
// training records, dense noise.
func BenchmarkRun(b *testing.B) {
	g, _, err := graph.ByName("barabasi:148,12", graph.BuiltinOptions{})
	if err != nil {
		b.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		b.Fatal(err)
	}
	task := LinearTask(20640, 8)
	c := Config{Task: Task{Model: NewMLP(8, 64), LearningRate: 0.1, Split: task.Split}, Gossip: w.Matrix(), Schema: cyclic(b, 320, 20, 16)}
	noise := &Noise{Correlation: correlation(b, 148, Shared(optimum(b, c, false)), c.Schema), Mu: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(b.Context(), c, noise, 1); err != nil {
			b.Fatal(err)
		}
	}
}
