package noise

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

const steps, dim = 12, 9000 // more than two chunks

// gaussian is Z of a node: what it is drawn with.
type gaussian struct {
	node string
	key  Key
	std  float64
}

// streamWith is newStream with a key of the caller's.
func streamWith(c strategy.Strategy, z gaussian, dim int, opts Options) (*Stream, error) {
	opts.NoiseStd = z.std
	s, err := newStream(c, z.node, dim, opts)
	if err == nil {
		s.key = z.key
	}
	return s, err
}

// dense is the dense optimum for prefix sums.
func dense(t testing.TB) strategy.Strategy {
	t.Helper()
	c, err := denseOptimum()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var denseOptimum = sync.OnceValues(func() (strategy.Strategy, error) {
	s, err := participation.NewCyclic(steps, 2, 6)
	if err != nil {
		return nil, err
	}
	r, err := factorize.Dense{}.Optimize(context.Background(), factorize.Mean(workload.PrefixGram(steps)), s, factorize.Options{})
	if err != nil {
		return nil, err
	}
	return r.Strategy, nil
})

// strategies are one of each class, optimal for prefix sums.
func strategies(t testing.TB) map[string]strategy.Strategy {
	s, err := participation.NewCyclic(steps, 2, 6)
	if err != nil {
		t.Fatal(err)
	}
	h := workload.PrefixGram(steps)
	ctx := context.Background()
	all := map[string]strategy.Strategy{}
	all["dense"] = dense(t)
	for _, class := range []factorize.Class{
		factorize.Banded{Bandwidth: 4},
		factorize.Toeplitz{Bandwidth: 5, ScaleColumns: true},
		factorize.BLT{Buffers: 3},
		factorize.BandedInverse{Bandwidth: 3},
	} {
		r, err := class.Optimize(ctx, factorize.Mean(h), s, factorize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all[class.Name()] = r.Strategy
	}
	return all
}

// TestStreamIsTheProduct: the rows are the rows of C⁻¹Z, to rounding, for every class, kept or made again.
func TestStreamIsTheProduct(t *testing.T) {
	key := SeededKey(7, "node")
	z := mat.NewDense(steps, dim, nil)
	for s := range steps {
		key.normals(z.RawRowView(s), s)
	}
	for name, c := range strategies(t) {
		var noising mat.TriDense
		if err := c.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		want.Mul(&noising, z)
		for _, regenerate := range []bool{false, true} {
			seed := uint64(7)
			s, err := streamWith(c, gaussian{"node", key, 3}, dim, Options{Seed: &seed, Regenerate: regenerate})
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float64, dim)
			for step := range steps {
				if err := s.Next(row); err != nil {
					t.Fatal(err)
				}
				for i, v := range row {
					if math.Abs(v-3*want.At(step, i)) > 1e-12*(1+math.Abs(v)) {
						t.Fatalf("%s: step %d, coordinate %d is %v, want %v", name, step, i, v, 3*want.At(step, i))
					}
				}
			}
			if err := s.Next(row); err != io.EOF {
				t.Errorf("%s: after the last step: %v", name, err)
			}
			if limit := map[string]int{"dense": steps, "banded": 3, "toeplitz": 4, "blt": 4,
				"banded-inverse": 2}[name]; floatsKept(s) > limit || regenerate && floatsKept(s) > 4 {
				t.Errorf("%s keeps %d rows", name, floatsKept(s))
			}
		}
	}
}

// TestCovariance: over many coordinates the rows have the covariance C⁻¹C⁻ᵀ.
func TestCovariance(t *testing.T) {
	for name, c := range strategies(t) {
		seed := uint64(1)
		s, err := streamWith(c, gaussian{"node", SeededKey(seed, "node"), 1}, 1<<16, Options{Seed: &seed})
		if err != nil {
			t.Fatal(err)
		}
		var noising mat.TriDense
		if err := c.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		want := mat.NewSymDense(steps, nil)
		want.SymOuterK(1, &noising)
		rows := make([][]float64, steps)
		for step := range steps {
			rows[step] = make([]float64, s.Dim())
			if err := s.Next(rows[step]); err != nil {
				t.Fatal(err)
			}
			for earlier := range step + 1 {
				var sum float64
				for i, v := range rows[step] {
					sum += v * rows[earlier][i]
				}
				got := sum / float64(s.Dim())
				both := want.At(step, step)*want.At(earlier, earlier) + math.Pow(want.At(step, earlier), 2)
				margin := 5 * math.Sqrt(both/float64(s.Dim()))
				if math.Abs(got-want.At(step, earlier)) > margin {
					t.Errorf("%s: covariance of steps %d and %d is %v, want %v ± %v", name, earlier, step, got,
						want.At(step, earlier), margin)
				}
			}
		}
	}
}

// exported writes an export of a strategy with two nodes and a noise level of 2.
func exported(t testing.TB, c strategy.Strategy) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	m := &export.Manifest{Version: "test", Workload: "prefix", WorkloadSpec: &workload.Spec{Kind: workload.Prefix}, Steps: steps,
		Participation: export.Participation{Schema: "cyclic", K: 2, B: 6}, Strategy: export.Describe(c),
		SensSquared: 1, SensKind: "exact", SquaredError: 2, Loss: 2, RMSE: 1, LowerBound: 1.9, Gap: 0.1,
		Tolerance: 0.1, Status: "converged",
		Graph:   &graph.Origin{Source: "path:2", Nodes: 2, Edges: 1, Gossip: "uniform"},
		Privacy: &export.Privacy{Mu: 0.5, Sigma: 2, Clip: 1, Adjacency: "zero-out", NoiseStd: 2}}
	files := []export.File{export.Bytes("nodes.csv", []byte("index,label,degree\n0,ann,1\n1,\"b,ob\",1\n"))}
	if c.Name() == "dense" {
		var lower, noising mat.TriDense
		c.StrategyTo(&lower)
		if err := c.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		files = append(files, export.NPY("C.npy", &lower), export.NPY("C_inv.npy", &noising))
	}
	if err := export.WriteDir(dir, m, files, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t testing.TB, next func([]float64) error, count int) [][]float64 {
	t.Helper()
	var rows [][]float64
	for range count {
		row := make([]float64, 100)
		if err := next(row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func same(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

// TestOpen: seeds make noise again, nodes and keys differ, the scale is the manifest's or the caller's, single
// precision and grid are roundings.
func TestOpen(t *testing.T) {
	dir := exported(t, dense(t))
	seed := uint64(3)
	open := func(node string, opts Options) *Stream {
		s, err := Open(dir, node, 100, opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ann := read(t, open("ann", Options{Seed: &seed}).Next, steps)
	if !same(ann, read(t, open("ann", Options{Seed: &seed}).Next, steps)) {
		t.Error("the same seed gives other noise")
	}
	if same(ann, read(t, open("b,ob", Options{Seed: &seed}).Next, steps)) {
		t.Error("two nodes have the same noise")
	}
	private := open("ann", Options{})
	if same(ann, read(t, private.Next, steps)) || !private.Private() ||
		same(read(t, open("ann", Options{}).Next, 1), read(t, open("ann", Options{}).Next, 1)) {
		t.Error("keys of the operating system are not fresh")
	}
	double := read(t, open("ann", Options{Seed: &seed, NoiseStd: 4}).Next, steps)
	if double[3][5] != 2*ann[3][5] {
		t.Errorf("twice the noise is %v, not twice %v", double[3][5], ann[3][5])
	}
	single := open("ann", Options{Seed: &seed})
	row := make([]float32, 100)
	for step := range steps {
		if err := single.NextFloat32(row); err != nil || row[7] != float32(ann[step][7]) {
			t.Errorf("single precision: %v, %v", row[7], err)
		}
	}
	for i, v := range read(t, open("ann", Options{Seed: &seed, Grid: 0.25}).Next, 1)[0] {
		if v != math.RoundToEven(ann[0][i]*4)/4 {
			t.Errorf("on the grid %v is %v", ann[0][i], v)
		}
	}
	before := runtime.GOMAXPROCS(1)
	alone, err := Open(dir, "ann", 3*chunk+5, Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	one := make([]float64, alone.Dim())
	err = alone.Next(one)
	runtime.GOMAXPROCS(max(before, 3))
	many, err2 := Open(dir, "ann", 3*chunk+5, Options{Seed: &seed})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	other := make([]float64, many.Dim())
	err = many.Next(other)
	runtime.GOMAXPROCS(before)
	if err != nil || !slices.Equal(one, other) || !slices.Equal(one[:100], ann[0]) {
		t.Error("noise depends on the number of workers, or of parameters")
	}
}

func TestOpenRefuses(t *testing.T) {
	c := dense(t)
	damaged := exported(t, c)
	path := filepath.Join(damaged, "C.npy")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	fine := exported(t, c)
	loud := exported(t, c.Scaled(1.01))
	for name, tc := range map[string]struct {
		dir, node string
		dim       int
		opts      Options
		say       string
	}{
		"a hash that differs":     {damaged, "ann", 1, Options{}, "SHA-256"},
		"too large a sensitivity": {loud, "ann", 1, Options{}, "sens²"},
		"unknown node":            {fine, "eve", 1, Options{}, `no node "eve"`},
		"no parameters":           {fine, "ann", 0, Options{}, "0 parameters"},
		"no export":               {t.TempDir(), "ann", 1, Options{}, "no export here"},
		"negative noise":          {fine, "ann", 1, Options{NoiseStd: -1}, "less than the 2"},
		"grid":                    {fine, "ann", 1, Options{Grid: math.NaN()}, "grid"},
	} {
		if _, err := Open(tc.dir, tc.node, tc.dim, tc.opts); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	s, err := Open(fine, "ann", 4, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Next(make([]float64, 3)); err == nil || s.Step() != 0 {
		t.Errorf("a row too short: %v, step %d", err, s.Step())
	}
}

// BenchmarkNext measures rows of a million parameters against copying as many.
func BenchmarkNext(b *testing.B) {
	const large = 1 << 20
	seed := uint64(1)
	for name, c := range strategies(b) {
		b.Run(name, func(b *testing.B) {
			s, err := streamWith(c, gaussian{"node", SeededKey(seed, "node"), 1}, large, Options{Seed: &seed})
			if err != nil {
				b.Fatal(err)
			}
			row := make([]float64, large)
			b.SetBytes(8 * large)
			for b.Loop() {
				if err := s.Next(row); err == io.EOF {
					if s, err = streamWith(c, gaussian{"node", SeededKey(seed, "node"), 1}, large,
						Options{Seed: &seed}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		from, to := make([]float64, large), make([]float64, large)
		b.SetBytes(8 * large)
		for b.Loop() {
			copy(to, from)
		}
	})
}

// floatsKept returns how many numbers a stream keeps for each parameter, beside the row that is handed out.
func floatsKept(s *Stream) int {
	if s.mix.regenerate {
		return 0
	}
	return s.mix.filter.Memory()
}
