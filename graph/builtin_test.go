package graph

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// builtin makes a built-in graph that must exist.
func builtin(t testing.TB, spec string, seed uint64) *Graph {
	t.Helper()
	g, known, err := ByName(spec, BuiltinOptions{Seed: seed})
	if err != nil || !known {
		t.Fatalf("%s: known %v, %v", spec, known, err)
	}
	return g
}

func degrees(g *Graph) (least, most int) {
	least = math.MaxInt
	for i := range g.Nodes() {
		least, most = min(least, g.Degree(i)), max(most, g.Degree(i))
	}
	return least, most
}

func TestBuiltins(t *testing.T) {
	for spec, want := range map[string]struct{ nodes, edges, least, most int }{
		"florentine":        {15, 20, 1, 6},
		"complete:1":        {1, 0, 0, 0},
		"complete:7":        {7, 21, 6, 6},
		"cycle:3":           {3, 3, 2, 2},
		"cycle:10":          {10, 10, 2, 2},
		"path:1":            {1, 0, 0, 0},
		"path:5":            {5, 4, 1, 2},
		"star:6":            {6, 5, 1, 5},
		"grid:3x4":          {12, 17, 2, 4},
		"hypercube:5":       {32, 80, 5, 5},
		"regular:20,3":      {20, 30, 3, 3},
		"regular:6,5":       {6, 15, 5, 5},
		"regular:50,45":     {50, 1125, 45, 45},
		"regular:100,98":    {100, 4900, 98, 98},
		"barabasi:300,299":  {300, 299, 1, 299},
		"barabasi:50,3":     {50, 141, 1, -1},
		"watts:30,4,0.3":    {30, 60, 1, -1},
		"watts:5,4,0.5":     {5, 10, 4, 4},
		"erdos:8,1":         {8, 28, 7, 7},
		"erdos:100,0.2":     {100, -1, 1, -1},
		"geometric:100,0.3": {100, -1, 1, -1},
		"geometric:10,2":    {10, 45, 9, 9},
	} {
		t.Run(spec, func(t *testing.T) {
			g := builtin(t, spec, 1)
			least, most := degrees(g)
			differs := func(got, want int) bool { return want >= 0 && got != want }
			if g.Nodes() != want.nodes || differs(g.Edges(), want.edges) || least < want.least || differs(most, want.most) {
				t.Errorf("%d nodes, %d edges, degrees %d to %d; want %+v", g.Nodes(), g.Edges(), least, most, want)
			}
			if len(g.Components()) != 1 {
				t.Error("not connected")
			}
			again := builtin(t, spec, 1)
			if !mat.Equal(g.Adjacency(), again.Adjacency()) {
				t.Error("the same seed made another graph")
			}
		})
	}
}

func TestSeedsDiffer(t *testing.T) {
	for _, b := range Builtins() {
		if b.denser == "" {
			continue
		}
		spec := map[string]string{"regular:n,d": "regular:30,3", "erdos:n,p": "erdos:30,0.3", "barabasi:n,m": "barabasi:30,2",
			"watts:n,k,p": "watts:30,4,0.5", "geometric:n,r": "geometric:30,0.5"}[b.Form]
		if mat.Equal(builtin(t, spec, 1).Adjacency(), builtin(t, spec, 2).Adjacency()) {
			t.Errorf("%s: two seeds made the same graph", spec)
		}
	}
}

func TestFlorentineMarriages(t *testing.T) {
	g := builtin(t, "florentine", 0)
	index := map[string]int{}
	for i, l := range g.Labels() {
		index[l] = i
	}
	for pair, want := range map[[2]string]float64{{"Medici", "Tornabuoni"}: 1, {"Pazzi", "Salviati"}: 1, {"Medici", "Pazzi"}: 0, {"Strozzi", "Medici"}: 0} {
		if got := g.Adjacency().At(index[pair[0]], index[pair[1]]); got != want {
			t.Errorf("%v: %v, want %v", pair, got, want)
		}
	}
	if g.Degree(index["Medici"]) != 6 || g.Label(0) != "Acciaiuoli" {
		t.Errorf("the Medici have %d marriages, node 0 is %s", g.Degree(index["Medici"]), g.Label(0))
	}
}

func TestBuiltinsRefuse(t *testing.T) {
	for spec, say := range map[string]string{
		"florentine:3":      "form is florentine",
		"complete":          "form is complete:n",
		"complete:":         "not a number",
		"complete:0":        "whole number",
		"complete:2.5":      "whole number",
		"complete:-3":       "not a number",
		"complete:1000000":  "GB",
		"cycle:2":           "at least 3",
		"cycle:NaN":         "not a number",
		"grid:3":            "form is grid:RxC",
		"grid:3x":           "not a number",
		"hypercube:40":      "at most 21",
		"regular:5,3":       "even",
		"regular:4,4":       "d < n",
		"erdos:10":          "1 parameters instead of 2",
		"erdos:10,0.5,1":    "3 parameters instead of 2",
		"erdos:10,1.5":      "above 1",
		"erdos:100,0.001":   "not connected in 100 draws: choose a larger p",
		"erdos:2,0":         "not connected",
		"erdos:100000000,1": "GB",
		"barabasi:5,5":      "less than n",
		"watts:10,3,0.1":    "even",
		"watts:10,4,2":      "at most 1",
		"geometric:50,0.01": "choose a larger r",
		"grid:100000x10000": "GB",
		"cycle:1e9":         "GB",
		"barabasi:1e8,3":    "GB",
		"watts:1e8,4,0.1":   "GB",
		"regular:1e8,4":     "GB",
		"geometric:1e8,0.1": "GB",
		"star:2147483648":   "GB",
	} {
		_, known, err := ByName(spec, BuiltinOptions{})
		if !known || err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: known %v, error %v; want one with %q", spec, known, err, say)
		}
	}
	for _, spec := range []string{"", "ego.edges", "florentine2", "Complete:3"} {
		if _, known, err := ByName(spec, BuiltinOptions{}); known || err != nil {
			t.Errorf("%q: known %v, %v", spec, known, err)
		}
	}
}
