package threat

import (
	"math/rand/v2"
	"sync"
	"testing"

	"mafalda/graph"
	"mafalda/workload"
)

// counter remembers what a Progress has seen.
type counter struct {
	mu                 sync.Mutex
	calls, most, total int
}

func (c *counter) count(done, total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.most, c.total = max(c.most, done), total
}

// All steps, runs and victims are counted, each once.
func TestProgress(t *testing.T) {
	schema := mustCyclic(t, 8, 2)
	trained, err := DPDSGD().Under(Training{Spec: workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Algorithm{DPDSGD(), ZipDL(), trained} {
		var c counter
		s := Scenario{kite(t), a, Attacker{Trust: PNDP, Nodes: []int{3}}, schema}
		if _, err := Audit(t.Context(), s, 2, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 10, Progress: c.count}); err != nil ||
			c.calls != 16 || c.most != 16 || c.total != 16 {
			t.Errorf("%s: %v, %+v", a.Name(), err, &c)
		}
	}
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	var victims counter
	s := Scenario{w.Matrix(), DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{3}}, schema}
	if _, err := Assess(t.Context(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Progress: victims.count}); err != nil ||
		victims.calls != 15 || victims.most != 15 || victims.total != 15 {
		t.Errorf("%v, %+v", err, &victims)
	}
}
