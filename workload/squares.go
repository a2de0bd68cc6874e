package workload

import (
	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/workload/randomgossip"
)

// squares is the algebra of n×n matrices, row by row, over laws that take turns.
type squares struct {
	n     int
	laws  []*randomgossip.Law
	means []*graph.CSR // E[W]
	back  []*graph.CSR // E[W]ᵀ
}

// panelWidth is how many columns are worked on at a time: enough for a row to be worth a call, few enough for a cache.
const panelWidth = 64

func newSquares(n int, laws []*randomgossip.Law) *squares {
	s := &squares{n: n, laws: laws}
	for _, law := range laws {
		s.means, s.back = append(s.means, law.Mean()), append(s.back, law.Mean().Transpose())
	}
	return s
}

func (s *squares) size() int { return s.n * s.n }

func (s *squares) diagonal(x []float64) []float64 {
	return lists.Make(s.n, func(i int) float64 { return x[i*s.n+i] })
}

func (s *squares) addDiagonal(x, d []float64) {
	for i := range s.n {
		x[i*s.n+i] += d[i%len(d)]
	}
}

func (s *squares) meanBack(t int, x []float64) []float64 {
	y := make([]float64, len(x))
	s.product(y, s.back[t%len(s.back)], x)
	return y
}

func (s *squares) transpose(x []float64) {
	n := s.n
	for i := range n {
		for j := range i {
			x[i*n+j], x[j*n+i] = x[j*n+i], x[i*n+j]
		}
	}
}

// pull returns E[W]ᵀXE[W] = (E[W]ᵀ(E[W]ᵀX)ᵀ)ᵀ, and what the covariance of W adds.
func (s *squares) pull(t int, x []float64) []float64 {
	a, b := make([]float64, len(x)), make([]float64, len(x))
	back := s.back[t%len(s.back)]
	s.product(a, back, x)
	s.transpose(a)
	s.product(b, back, a)
	s.transpose(b)
	s.laws[t%len(s.laws)].AddCovariance(b, x)
	return b
}

// product writes w·x to dst, on all processors.
func (s *squares) product(dst []float64, w *graph.CSR, x []float64) {
	parallel.For(s.n, func(i int) {
		row := dst[i*s.n : (i+1)*s.n]
		clear(row)
		w.DoRowNonZero(i, func(_, j int, v float64) { floats.AddScaled(row, v, x[j*s.n:(j+1)*s.n]) })
	})
}

// descend goes all the way with a panel of columns, then with the next.
func (s *squares) descend(y [][]float64, path []crossing) {
	for from := 0; from < s.n; from += panelWidth {
		s.descendWith(y, from, min(panelWidth, s.n-from), path, func(l int, diagonals [][]float64) {
			for k, d := range diagonals {
				path[l].traces[k] += floats.Sum(d)
			}
		})
	}
}

func (s *squares) descendWith(
	y [][]float64, from, width int, path []crossing, visit func(l int, diagonals [][]float64),
) {
	room := make([]float64, s.n*width)
	panels, diagonals := make([][]float64, len(y)), make([][]float64, len(y))
	for k := range panels {
		panels[k], diagonals[k] = make([]float64, s.n*width), make([]float64, width)
		for i := range s.n {
			copy(panels[k][i*width:(i+1)*width], y[k][i*s.n+from:])
		}
	}
	for l := len(path) - 1; l >= 0; l-- {
		c := path[l]
		for range c.rounds {
			for k, panel := range panels {
				s.back[c.t%len(s.back)].MulMatTo(room, panel, width)
				panels[k], room = room, panel
			}
		}
		cross(panels, c)
		for k, panel := range panels {
			for i := range width {
				diagonals[k][i] = panel[(from+i)*width+i]
			}
		}
		visit(l, diagonals)
	}
}
