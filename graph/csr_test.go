package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func drawDense(t *rapid.T) *mat.Dense {
	r, c := rapid.IntRange(1, 7).Draw(t, "rows"), rapid.IntRange(1, 7).Draw(t, "columns")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	d := mat.NewDense(r, c, nil)
	d.Apply(func(_, _ int, _ float64) float64 {
		if rng.IntN(2) == 0 {
			return 0
		}
		return rng.NormFloat64()
	}, d)
	return d
}

func TestCSRIsDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDense(t)
		m := NewCSRFromDense(d)
		if !mat.Equal(m, d) || !mat.Equal(m.ToDense(), d) || !mat.Equal(m.T(), d.T()) || !mat.Equal(m.Transpose(), d.T()) {
			t.Fatal("CSR and dense matrix differ")
		}
		r, c := d.Dims()
		nnz := 0
		m.DoNonZero(func(i, j int, v float64) {
			nnz++
			if d.At(i, j) != v {
				t.Fatalf("entry (%d,%d) is %v", i, j, v)
			}
		})
		rows := 0
		for i := range r {
			rows += m.RowNNZ(i)
		}
		if nnz != m.NNZ() || nnz != rows {
			t.Fatalf("%d entries, NNZ %d, rows %d", nnz, m.NNZ(), rows)
		}
		for _, trans := range []bool{false, true} {
			from, to := c, r
			var a mat.Matrix = d
			if trans {
				from, to, a = r, c, d.T()
			}
			src, dst := make([]float64, from), make([]float64, to)
			for i := range src {
				src[i] = float64(i + 1)
			}
			for i := range dst {
				dst[i] = math.NaN() // must be overwritten
			}
			m.MulVecTo(dst, trans, src)
			var want mat.VecDense
			want.MulVec(a, mat.NewVecDense(from, src))
			if !mat.EqualApprox(mat.NewVecDense(to, dst), &want, 1e-13) {
				t.Fatalf("MulVecTo(trans %v) = %v", trans, dst)
			}
		}
	})
}

func TestNewCSRPanics(t *testing.T) {
	for name, make := range map[string]func(){
		"short pointers":     func() { NewCSR(2, 2, []int{0, 1}, []int{0}, []float64{1}) },
		"decreasing":         func() { NewCSR(2, 2, []int{0, 2, 1}, []int{0, 1}, []float64{1, 1}) },
		"column out of it":   func() { NewCSR(1, 2, []int{0, 1}, []int{2}, []float64{1}) },
		"columns descending": func() { NewCSR(1, 2, []int{0, 2}, []int{1, 0}, []float64{1, 1}) },
		"values missing":     func() { NewCSR(1, 2, []int{0, 1}, []int{1}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			make()
		})
	}
}

func TestPrincipal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				d.Set(i, j, float64((i*n+j)%3))
			}
		}
		kept := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID[int]).Draw(t, "kept")
		slices.Sort(kept)
		got := NewCSRFromDense(d).principal(kept)
		for i, u := range kept {
			for j, v := range kept {
				if got.At(i, j) != d.At(u, v) {
					t.Fatalf("entry (%d,%d)", i, j)
				}
			}
		}
	})
}

// Products with several vectors are those with each of them.
func TestMulMat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := NewCSRFromDense(drawDense(t))
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // more than one processor takes at a time
			const n = 40000
			var indptr, indices []int
			var data []float64
			for i := range n {
				indptr = append(indptr, len(indices))
				if i%3 > 0 {
					indices, data = append(indices, (i*7)%n), append(data, r.NormFloat64())
				}
			}
			m = NewCSR(n, n, append(indptr, len(indices)), indices, data)
		}
		rows, cols := m.Dims()
		width := rapid.IntRange(1, 4).Draw(t, "width")
		src, dst := make([]float64, cols*width), make([]float64, rows*width)
		for i := range src {
			src[i] = r.NormFloat64()
		}
		for i := range dst {
			dst[i] = math.NaN()
		}
		m.MulMatTo(dst, src, width)
		for c := range width {
			x, y := make([]float64, cols), make([]float64, rows)
			for j := range x {
				x[j] = src[j*width+c]
			}
			m.MulVecTo(y, false, x)
			for i, v := range y {
				if dst[i*width+c] != v {
					t.Fatalf("row %d of vector %d is %v, must be %v", i, c, dst[i*width+c], v)
				}
			}
		}
	})
}
