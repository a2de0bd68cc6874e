package spacetime

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/secrets"
	"mafalda/workload"
)

func TestExplore(t *testing.T) {
	src := os.Getenv("G")
	if src == "" {
		t.Skip()
	}
	steps, _ := strconv.Atoi(os.Getenv("T"))
	net, err := graph.LoadNetwork(context.Background(), graph.NetworkOptions{Source: src})
	if err != nil {
		t.Fatal(err)
	}
	wl, err := workload.NewSpaceTime(net.Gossip.Matrix(), steps, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewSymDense(steps, nil)
	for i := range steps {
		y.SetSym(i, i, 1)
	}
	t0 := time.Now()
	k, err := wl.SpaceGram(context.Background(), y)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("K", time.Since(t0))
	n := net.Graph.Nodes()
	size := 1
	if s := os.Getenv("A"); s != "" {
		size, _ = strconv.Atoi(s)
	}
	at, err := secrets.Colluding(n, size)
	if err != nil {
		t.Fatal(err)
	}
	g := secrets.OfEdges(net.Graph)
	L, _ := strconv.ParseFloat(os.Getenv("L"), 64)
	gap, _ := strconv.ParseFloat(os.Getenv("GAP"), 64)
	r, err := Space(context.Background(), k, Setting{g, at}, SpaceOptions{Gap: gap, LargestPair: L, Progress: func(it SpaceIteration) {
		fmt.Printf("%d loss %.8f ratio %.6f bound %.8f gap %.2e mu %.2e t %.1f\n", it.Count, it.Loss, it.Loss/mat.Trace(k), it.LowerBound, it.Gap, it.Point.Mu, time.Since(t0).Seconds())
	}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(r.Worst, r.Loss/mat.Trace(k), r.LowerBound/mat.Trace(k), r.Gap, r.Status, len(r.Noise.Pairs), "of", len(g.Pairs()), time.Since(t0))
}
