package protocols

import (
	"errors"
	"flag"
	"math/big"
	"os"
	"testing"

	"mafalda/graph"
)

type bigRat = big.Rat

func isNetwork(err error) bool { return errors.Is(err, ErrNetwork) }

// metropolisRat returns Metropolis weights in rational numbers.
func metropolisRat(g *graph.Graph) [][]*big.Rat {
	w := identityRat(g.Nodes())
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		w[i][j].SetFrac64(1, int64(1+max(g.Degree(i), g.Degree(j))))
		w[i][i].Sub(w[i][i], w[i][j])
	})
	return w
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
