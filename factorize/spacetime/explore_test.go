package spacetime

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/workload"
)

func TestExplore(t *testing.T) {
	src := os.Getenv("G")
	if src == "" {
		t.Skip()
	}
	num := func(name string, def int) int {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return v
		}
		return def
	}
	ctx := context.Background()
	steps := num("T", 32)
	if sec := num("SEC", 0); sec > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(sec)*time.Second)
		defer cancel()
	}
	net, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: src, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	wl, err := workload.NewSpaceTime(net.Gossip.Matrix(), steps, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.Complete(steps, num("K", 4), 0)
	if err != nil {
		t.Fatal(err)
	}
	class := factorize.Class(factorize.Dense{})
	if c := os.Getenv("C"); c != "" {
		class, err = factorize.ClassOf(c)
		if err != nil {
			t.Fatal(err)
		}
	}
	t0 := time.Now()
	n := net.Graph.Nodes()
	at, err := secrets.Colluding(n, num("A", 1))
	if err != nil {
		t.Fatal(err)
	}
	g := secrets.OfEdges(net.Graph)
	gap, _ := strconv.ParseFloat(os.Getenv("GAP"), 64)
	r, err := Optimize(ctx, Problem{wl, schema, class, Setting{g, at}}, Options{Gap: gap, Progress: func(it Iteration) {
		if os.Getenv("V") != "" && it.Space {
			fmt.Printf("%d %v %d loss %.8f gap %.2e t %.1f\n", it.Round, it.Space, it.Count, it.Loss, it.Gap, time.Since(t0).Seconds())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Rounds {
		fmt.Println("  ", x)
	}
	fmt.Println(r.Worst, r.LDP.Loss, r.Loss, "ratio", r.Loss/r.LDP.Loss, "space", r.SpaceGap, "time", r.Time.Gap, r.Status, len(r.Noise.Pairs), "of", len(g.Pairs()), time.Since(t0))
	if os.Getenv("J") != "" {
		t0 := time.Now()
		b, err := JointLowerBound(ctx, Problem{wl, schema, class, Setting{g, at}}, r, Options{})
		fmt.Println("joint", b, r.Loss/b, err, time.Since(t0))
	}
}
