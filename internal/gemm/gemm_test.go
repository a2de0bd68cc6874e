package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// sizes are those where blocks, tiles and triangles begin and end, and any others.
func drawSize(t *rapid.T, name string) int {
	return rapid.OneOf(rapid.SampledFrom([]int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 47, 48, 49, 95, 96, 97,
		191, 192, 193, 255, 256, 257}), rapid.IntRange(0, 60),
		rapid.IntRange(0, 300)).Draw(t, name)
}

// random returns a rows×cols matrix of which rows are stride apart, and NaN between them.
func random[T number](rows, cols, stride int, r *rand.Rand) []T {
	m := make([]T, max(rows*stride, 1))
	for i := range m {
		m[i] = T(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			m[i*stride+j] = T(r.NormFloat64())
		}
	}
	return m[:max((rows-1)*stride+cols, 0)]
}

func randomOperand[T number](t *rapid.T, name string, rows, cols int, r *rand.Rand) operand[T] {
	o := operand[T]{trans: rapid.Bool().Draw(t, name+" transposed")}
	if o.trans {
		rows, cols = cols, rows
	}
	o.stride = max(1, cols) + rapid.IntRange(0, 3).Draw(t, name+" more")
	o.data = random[T](rows, cols, o.stride, r)
	return o
}

func (o operand[T]) at(i, j int) T {
	if o.trans {
		i, j = j, i
	}
	return o.data[i*o.stride+j]
}

// same compares within what rounding explains, and NaN with NaN: what is between the rows must stay as it was.
func same[T number](t *rapid.T, what string, got, want []T, tolerance float64) {
	for i, v := range got {
		w := want[i]
		if v != v && w != w {
			continue
		}
		if !(math.Abs(float64(v-w)) <= tolerance) {
			t.Fatalf("%s: number %d is %v, must be %v (within %.2g)", what, i, v, w, tolerance)
		}
	}
}

func epsilonOf[T number]() float64 {
	var v T
	if _, ok := any(v).(float64); ok {
		return 0x1p-52
	}
	return 0x1p-23
}

// checkProduct compares every engine with the definition.
func checkProduct[T number](t *rapid.T, engines []*engine[T]) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	m, n, k := drawSize(t, "m"), drawSize(t, "n"), drawSize(t, "k")
	a, b := randomOperand[T](t, "A", m, k, r), randomOperand[T](t, "B", k, n, r)
	stride := max(1, n) + rapid.IntRange(0, 3).Draw(t, "C more")
	c := random[T](m, n, stride, r)
	alpha, beta := rapid.SampledFrom([]T{1, -1, 0, 0.3}).Draw(t, "alpha"),
		rapid.SampledFrom([]T{1, 0, -2}).Draw(t, "beta")
	want := slices.Clone(c)
	for i := range m {
		for j := range n {
			var sum float64
			for p := range k {
				sum += float64(a.at(i, p)) * float64(b.at(p, j))
			}
			if v := &want[i*stride+j]; beta == 0 {
				*v = T(float64(alpha) * sum)
			} else {
				*v = T(float64(alpha)*sum + float64(beta)*float64(*v))
			}
		}
	}
	for _, e := range engines {
		got := slices.Clone(c)
		product(e, m, n, k, alpha, a, b, beta, got, stride)
		same(t, fmt.Sprintf("%s %d×%d×%d", e.name, m, n, k), got, want, epsilonOf[T]()*(20+4*float64(k)))
	}
}

func TestProducts(t *testing.T) {
	d, s := available()
	t.Run("float64", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { checkProduct(t, d) }) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { checkProduct(t, s) }) })
}

func FuzzProduct(f *testing.F) {
	d, _ := available()
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkProduct(t, d) }))
}

// engines returns all that level-3 routines can be made of.
func engines() []level3[float64] {
	var all []level3[float64]
	d, _ := available()
	for _, e := range d {
		all = append(all, level3[float64]{e, double().axpy})
	}
	return all
}

// triangleFor returns a triangular matrix whose inverse is small, with NaN in the other triangle.
func triangleFor(t *rapid.T, n int, r *rand.Rand) (a []float64, lda int, ul blas.Uplo, d blas.Diag) {
	lda = max(1, n) + rapid.IntRange(0, 3).Draw(t, "A more")
	ul, d = rapid.SampledFrom([]blas.Uplo{blas.Lower, blas.Upper}).Draw(t, "triangle"),
		rapid.SampledFrom([]blas.Diag{blas.Unit, blas.NonUnit}).Draw(t, "diagonal")
	a = random[float64](n, n, lda, r)
	for i := range n {
		for j := range n {
			v := &a[i*lda+j]
			switch {
			case i == j && d == blas.NonUnit:
				*v = 1 + r.Float64()
			case i == j || (i > j) != (ul == blas.Lower):
				*v = math.NaN()
			default:
				*v /= float64(n)
			}
		}
	}
	return a, lda, ul, d
}

// Triangular solves and products are gonum's.
func TestTriangles(t *testing.T) {
	g := blasgonum.Implementation{}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m, n := drawSize(t, "m"), drawSize(t, "n")
		s, tA := rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "side"),
			rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans}).Draw(t, "transposed")
		order := m
		if s == blas.Right {
			order = n
		}
		a, lda, ul, d := triangleFor(t, order, r)
		ldb := max(1, n) + rapid.IntRange(0, 3).Draw(t, "B more")
		b := random[float64](m, n, ldb, r)
		alpha := rapid.SampledFrom([]float64{1, -0.5, 0}).Draw(t, "alpha")
		solved, multiplied := slices.Clone(b), slices.Clone(b)
		g.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, solved, ldb)
		g.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, multiplied, ldb)
		for _, l := range engines() {
			got := slices.Clone(b)
			triangularOn(l, l.solve, s, ul, tA, d, m, n, alpha, a, lda, got, ldb)
			same(t, l.name+" solve", got, solved, 1e-13)
			got = slices.Clone(b)
			triangularOn(l, l.multiply, s, ul, tA, d, m, n, alpha, a, lda, got, ldb)
			same(t, l.name+" multiply", got, multiplied, 1e-13)
		}
		if m*n > 0 {
			single, wide := make([]float32, len(a)), make([]float32, len(b))
			for i, v := range a {
				single[i] = float32(v)
			}
			for i, v := range b {
				wide[i] = float32(v)
			}
			want := slices.Clone(wide)
			g.Strmm(s, ul, tA, d, m, n, float32(alpha), single, lda, want, ldb)
			BLAS{}.Strmm(s, ul, tA, d, m, n, float32(alpha), single, lda, wide, ldb)
			same(t, "float32", wide, want, 2e-5)
		}
	})
}

// Symmetric products touch one triangle, and are gonum's; so are products with symmetric matrices.
func TestSymmetric(t *testing.T) {
	g := blasgonum.Implementation{}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n, k := drawSize(t, "n"), drawSize(t, "k")
		a := randomOperand[float64](t, "A", n, k, r)
		ul := rapid.SampledFrom([]blas.Uplo{blas.Lower, blas.Upper}).Draw(t, "triangle")
		ldc := max(1, n) + rapid.IntRange(0, 3).Draw(t, "C more")
		c := random[float64](n, n, ldc, r)
		alpha, beta := rapid.SampledFrom([]float64{1, -0.5}).Draw(t, "alpha"),
			rapid.SampledFrom([]float64{1, 0, -2}).Draw(t, "beta")
		tA := blas.NoTrans
		if a.trans {
			tA = blas.Trans
		}
		want, got := slices.Clone(c), slices.Clone(c)
		g.Dsyrk(ul, tA, n, k, alpha, a.data, a.stride, beta, want, ldc)
		BLAS{}.Dsyrk(ul, tA, n, k, alpha, a.data, a.stride, beta, got, ldc)
		same(t, "symmetric product", got, want, 1e-15*(20+4*float64(k)))

		m, s := drawSize(t, "m"), rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "side")
		rows, cols := n, m
		if s == blas.Right {
			rows, cols = m, n
		}
		b, out := random[float64](rows, cols, max(1, cols), r), random[float64](rows, cols, max(1, cols), r)
		want, got = slices.Clone(out), slices.Clone(out)
		g.Dsymm(s, ul, rows, cols, alpha, c, ldc, b, max(1, cols), beta, want, max(1, cols))
		BLAS{}.Dsymm(s, ul, rows, cols, alpha, c, ldc, b, max(1, cols), beta, got, max(1, cols))
		same(t, "product with a symmetric matrix", got, want, 1e-15*(20+4*float64(n)))
	})
}

// Cholesky factors and inverses are gonum's; a matrix that is not positive definite is known as such.
func TestCholesky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := drawSize(t, "n")
		ul := rapid.SampledFrom([]blas.Uplo{blas.Lower, blas.Upper}).Draw(t, "triangle")
		lda := max(1, n) + rapid.IntRange(0, 3).Draw(t, "A more")
		x := random[float64](n, n+3, n+3, r)
		a := random[float64](n, n, lda, r)
		for i := range n {
			for j := range n {
				var sum float64
				for p := range n + 3 {
					sum += x[i*(n+3)+p] * x[j*(n+3)+p] / float64(n)
				}
				if a[i*lda+j] = sum; i == j {
					a[i*lda+j]++
				} else if (i > j) != (ul == blas.Lower) {
					a[i*lda+j] = math.NaN()
				}
			}
		}
		want := slices.Clone(a)
		choleskySlowly(ul, n, want, lda)
		for _, l := range engines() {
			got := slices.Clone(a)
			if !cholesky(l, ul == blas.Lower, n, got, lda) {
				t.Fatalf("%s: no factor", l.name)
			}
			same(t, l.name+" factor", got, want, 1e-13*float64(n+1))
			invert(l, triangle[float64]{operand[float64]{got, lda, false}, ul == blas.Lower, false}, n)
			square(l, ul == blas.Lower, n, got, lda)
			checkInverse(t, l.name, n, func(i, j int) float64 {
				if (i > j) != (ul == blas.Lower) {
					i, j = j, i
				}
				return a[i*lda+j]
			}, func(i, j int) float64 {
				if (i > j) != (ul == blas.Lower) {
					i, j = j, i
				}
				return got[i*lda+j]
			})
			if n > 0 {
				broken := slices.Clone(a)
				i := r.IntN(n)
				broken[i*lda+i] = rapid.SampledFrom([]float64{-1, 0, math.NaN()}).Draw(t, "pivot")
				if cholesky(l, ul == blas.Lower, n, broken, lda) {
					t.Fatalf("%s: a factor of an indefinite matrix", l.name)
				}
			}
		}
	})
}

// choleskySlowly is the textbook's.
func choleskySlowly(ul blas.Uplo, n int, a []float64, lda int) {
	at := func(i, j int) *float64 { // of L, or of U transposed
		if ul == blas.Upper {
			i, j = j, i
		}
		return &a[i*lda+j]
	}
	for j := range n {
		for i := j; i < n; i++ {
			for p := range j {
				*at(i, j) -= *at(i, p) * *at(j, p)
			}
		}
		d := math.Sqrt(*at(j, j))
		for i := j; i < n; i++ {
			*at(i, j) /= d
		}
	}
}

// checkInverse multiplies by the definition.
func checkInverse(t *rapid.T, name string, n int, a, inverse func(i, j int) float64) {
	for i := range n {
		for j := range n {
			var sum float64
			for p := range n {
				sum += a(i, p) * inverse(p, j)
			}
			if i == j {
				sum--
			}
			if !(math.Abs(sum) < 1e-12*float64(n+1)) {
				t.Fatalf("%s: A times its inverse has %v beyond the identity at %d,%d", name, sum, i, j)
			}
		}
	}
}

func TestTriangularInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := drawSize(t, "n")
		a, lda, ul, d := triangleFor(t, n, r)
		got := slices.Clone(a)
		if !(LAPACK{}).Dtrtri(ul, d, n, got, lda) {
			t.Fatal("no inverse")
		}
		of := func(m []float64) func(i, j int) float64 {
			return func(i, j int) float64 {
				switch {
				case i == j && d == blas.Unit:
					return 1
				case i != j && (i > j) != (ul == blas.Lower):
					return 0
				}
				return m[i*lda+j]
			}
		}
		checkInverse(t, "triangle", n, of(a), of(got))
		for i, v := range got {
			if (v == v) != (a[i] == a[i]) {
				t.Fatal("numbers that are not of the triangle were changed")
			}
		}
		if n > 0 && d == blas.NonUnit {
			i := r.IntN(n)
			a[i*lda+i] = 0
			if kept := slices.Clone(a); (LAPACK{}).Dtrtri(ul, d, n, a, lda) || (LAPACK{}).Dpotri(ul, n, a, lda) {
				t.Fatal("an inverse of a singular matrix")
			} else {
				same(t, "singular matrix", a, kept, 0)
			}
		}
	})
}

// The number of processors changes nothing, not even the last bit.
func TestProcessorsChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 401
	x, y := random[float64](n, n, n, r), random[float64](n, n, n, r)
	var first [][]float64
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(procs)
		product, gram := make([]float64, n*n), make([]float64, n*n)
		BLAS{}.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, x, n, y, n, 0, product, n)
		BLAS{}.Dsyrk(blas.Lower, blas.NoTrans, n, n, 1, x, n, 0, gram, n)
		factor := slices.Clone(gram)
		if !(LAPACK{}).Dpotrf(blas.Lower, n, factor, n) {
			t.Fatal("no factor")
		}
		solved := slices.Clone(y)
		BLAS{}.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, n, n, 1, factor, n, solved, n)
		all := [][]float64{product, gram, factor, solved}
		if first == nil {
			first = all
		}
		for i := range all {
			if !slices.Equal(all[i], first[i]) {
				t.Errorf("result %d differs on %d processors", i, procs)
			}
		}
	}
}

func TestWrongDimensions(t *testing.T) {
	x := make([]float64, 12)
	for name, f := range map[string]func(){
		"short A": func() {
			BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, 4, 3, 4, 1, x, 4, x, 3, 0,
				make([]float64, 12), 3)
		},
		"short B": func() {
			BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, 3, 4, 4, 1, x, 4, x, 4, 0,
				make([]float64, 12), 4)
		},
		"short C": func() {
			BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, 3, 3, 4, 1, x, 4, x, 3, 0,
				make([]float64, 8), 3)
		},
		"narrow C": func() {
			BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, 3, 3, 4, 1, x, 4, x, 3, 0,
				make([]float64, 12), 2)
		},
		"negative": func() {
			BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, -1, 3, 4, 1, x, 4, x, 3, 0,
				make([]float64, 12), 3)
		},
		"not square":  func() { LAPACK{}.Dpotrf(blas.Lower, 4, x, 4) },
		"short solve": func() { BLAS{}.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, 3, 5, 1, x, 3, x, 5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func benchmark(b *testing.B, flops func(n float64) float64, make func(n int) (fast, slow func())) {
	for _, n := range []int{64, 380, 1024, 2048} {
		fast, slow := make(n)
		for _, v := range []struct {
			name string
			run  func()
		}{{doubles.name, fast}, {"gonum", slow}} {
			b.Run(fmt.Sprintf("n=%d/%s", n, v.name), func(b *testing.B) {
				for b.Loop() {
					v.run()
				}
				b.ReportMetric(flops(float64(n))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	benchmark(b, func(n float64) float64 { return 2 * n * n * n }, func(n int) (fast, slow func()) {
		r := rand.New(rand.NewPCG(1, 2))
		x, y, z := random[float64](n, n, n, r), random[float64](n, n, n, r), make([]float64, n*n)
		return func() { BLAS{}.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, x, n, y, n, 0, z, n) },
			func() { blasgonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, x, n, y, n, 0, z, n) }
	})
}

func benchmarkFactor(b *testing.B, flops func(n float64) float64, fast, slow func(n int, a []float64)) {
	benchmark(b, flops, func(n int) (func(), func()) {
		r := rand.New(rand.NewPCG(1, 2))
		x, a, work := random[float64](n, n, n, r), make([]float64, n*n), make([]float64, n*n)
		BLAS{}.Dsyrk(blas.Upper, blas.NoTrans, n, n, 1/float64(n), x, n, 0, a, n)
		for i := range n {
			a[i*n+i]++
		}
		return func() { copy(work, a); fast(n, work) }, func() { copy(work, a); slow(n, work) }
	})
}

func BenchmarkCholesky(b *testing.B) {
	benchmarkFactor(b, func(n float64) float64 { return n * n * n / 3 },
		func(n int, a []float64) { LAPACK{}.Dpotrf(blas.Upper, n, a, n) },
		func(n int, a []float64) { lapackgonum.Implementation{}.Dpotrf(blas.Upper, n, a, n) })
}

func BenchmarkCholeskyInverse(b *testing.B) {
	benchmarkFactor(b, func(n float64) float64 { return n * n * n },
		func(n int, a []float64) { LAPACK{}.Dpotrf(blas.Upper, n, a, n); LAPACK{}.Dpotri(blas.Upper, n, a, n) },
		func(n int, a []float64) {
			lapackgonum.Implementation{}.Dpotrf(blas.Upper, n, a, n)
			lapackgonum.Implementation{}.Dpotri(blas.Upper, n, a, n)
		})
}

func BenchmarkSolve(b *testing.B) {
	benchmark(b, func(n float64) float64 { return n * n * n }, func(n int) (fast, slow func()) {
		r := rand.New(rand.NewPCG(1, 2))
		x, y := random[float64](n, n, n, r), random[float64](n, n, n, r)
		for i := range x {
			x[i] /= float64(n)
		}
		for i := range n {
			x[i*n+i] = 1
		}
		return func() { BLAS{}.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, x, n, y, n) },
			func() {
				blasgonum.Implementation{}.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit,
					n, n, 1, x, n, y, n)
			}
	})
}
