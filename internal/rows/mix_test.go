package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// use has the package use some kernels.
func use(k *kernels) { best = k }

// eachKernel has the package use all kernels that this machine can run, one after the other.
func eachKernel(visit func(k *kernels) bool) {
	defer use(best)
	for _, k := range available() {
		if use(k); !visit(k) {
			return
		}
	}
}

// mixed are all operations with numbers from rng, on rows of n, and what they say of them.
func mixed(n int, value func() float64) (rows [][]float64, said []bool) {
	row := func() []float64 {
		r := make([]float64, n+1)
		for i := range r {
			r[i] = value()
		}
		rows = append(rows, r)
		return r[:n]
	}
	ScaleTo(row(), value(), row())
	AddScaled(row(), value(), row())
	for many := range 10 {
		all, weights := make([][]float64, many), make([]float64, many)
		for i := range all {
			all[i], weights[i] = row(), value()
		}
		if many > 6 {
			weights[2] = 0
		}
		AddAll(row(), weights, all)
	}
	section := func(poles int) Section { return Section{value(), value(), value(), value(), poles} }
	for _, poles := range [][]int{{}, {1}, {2}, {2, 1, 2}, {1, 1, 2}} {
		var sections []Section
		var kept [][]float64
		for _, p := range poles {
			sections = append(sections, section(p))
			for range p {
				kept = append(kept, row())
			}
		}
		NewCascade(value(), sections).StepTo(row(), row(), kept)
	}
	same := row()
	ScaleTo(same, value(), same)
	for _, past := range []bool{false, true} {
		said = append(said, LevelTo(row(), value(), row(), past))
	}
	for _, grid := range []float64{0x1p-60, 0x1p-4, 1, 0x1p900} {
		said = append(said, LevelOnGrid(row(), value(), grid))
	}
	return rows, said
}

// bits returns the bits of a number; all NaNs are one NaN.
func bits(v float64) uint64 {
	if v != v {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(v)
}

// TestKernelsMixTheSame: every kernel does what the portable form does, bit by bit, writes no more than it should, and
// sees every number that is not finite or has too many digits for a grid.
func TestKernelsMixTheSame(t *testing.T) {
	for name, draw := range map[string]func(rng *rand.Rand) float64{
		"normal": (*rand.Rand).NormFloat64,
		"any bits": func(rng *rand.Rand) float64 {
			return math.Float64frombits(rng.Uint64())
		},
		"few that are special": func(rng *rand.Rand) float64 {
			special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0x1p53, -0x1p53, math.MaxFloat64}
			if rng.IntN(60) == 0 {
				return special[rng.IntN(len(special))]
			}
			return []float64{0, math.Copysign(0, -1), 0.5, 1.5, -2.5, 0x1p53 - 1, 1, 5e-324}[rng.IntN(8)]
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer use(best)
			use(portable)
			for n := range 70 {
				want, say := mixed(n, func() func() float64 {
					rng := rand.New(rand.NewPCG(uint64(n), 1))
					return func() float64 { return draw(rng) }
				}())
				for k := range eachKernel {
					rng := rand.New(rand.NewPCG(uint64(n), 1))
					got, said := mixed(n, func() float64 { return draw(rng) })
					if !slices.Equal(said, say) {
						t.Fatalf("%s: rows of %d are judged %v, want %v", k.name, n, said, say)
					}
					for i := range got {
						for j, v := range got[i] {
							if bits(v) != bits(want[i][j]) {
								t.Fatalf("%s: number %d of %d in row %d is %v, want %v", k.name, j, n, i, v, want[i][j])
							}
						}
					}
				}
			}
		})
	}
}

// TestLevel: what cannot be used is seen in every place.
func TestLevel(t *testing.T) {
	for k := range eachKernel {
		for i := range 40 {
			for _, wrong := range []float64{math.Inf(1), math.NaN(), 1e308} {
				row, past, gridded := make([]float64, 40), make([]float64, 40), make([]float64, 40)
				row[i], gridded[i] = wrong, wrong
				if LevelTo(past, 100, row, true) || LevelTo(row, 100, row, false) || LevelOnGrid(gridded, 100, 1) {
					t.Errorf("%s: %v in place %d is not seen", k.name, wrong, i)
				}
			}
			row := make([]float64, 40)
			row[i] = -0x1p53
			if LevelOnGrid(row, 1, 1) {
				t.Errorf("%s: 2⁵³ times the grid in place %d is not seen", k.name, i)
			}
			row[i] = 0x1p53 - 1
			if !LevelOnGrid(row, 1, 1) || row[i] != 0x1p53-1 {
				t.Errorf("%s: 2⁵³-1 times the grid in place %d does not fit, %v", k.name, i, row[i])
			}
		}
	}
}

// TestCascade: a section with two poles and one with one after it, and a level and a grid, by their definitions.
func TestCascade(t *testing.T) {
	kept := [][]float64{{10}, {100}, {1000}}
	dst := make([]float64, 1)
	c := NewCascade(3, []Section{{P: 0.5, Q: 0.25, A: 2, B: 3, Poles: 2}, {P: 0.75, A: 4, Poles: 1}})
	c.StepTo(dst, []float64{1}, kept)
	if dst[0] != 1013 || kept[0][0] != 0.5*13-2*3+100 || kept[1][0] != 3*3-0.25*13 || kept[2][0] != 0.75*1013-4*13 {
		t.Error(dst, kept)
	}
	row := []float64{1, 2.5, -3.5, 0.1}
	if !LevelOnGrid(row, 0.5, 0.5) || !slices.Equal(row, []float64{0.5, 1, -2, 0}) { // 0.5, 1.25, -1.75, 0.05
		t.Error(row)
	}
}

// TestAddAll: it is AddScaled again and again, but for what is not there.
func TestAddAll(t *testing.T) {
	for n := range 40 {
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		all, weights := make([][]float64, n), make([]float64, n)
		dst, want := make([]float64, 35), make([]float64, 35)
		for s := range all {
			all[s] = make([]float64, len(dst))
			for i := range dst {
				all[s][i] = rng.NormFloat64()
			}
			if weights[s] = rng.NormFloat64(); s%5 == 3 {
				weights[s], all[s] = 0, nil
				continue
			}
			AddScaled(want, weights[s], all[s])
		}
		AddAll(dst, weights, all)
		if !slices.Equal(dst, want) {
			t.Fatalf("%d rows: %v, want %v", n, dst, want)
		}
	}
}

// TestNarrow: every kernel rounds as Go does, and sees in every place what is not finite, or not the same.
func TestNarrow(t *testing.T) {
	values := []float64{1, -0.1, 1e30, 0x1p-140, 0x1p-160, 0x1p128, -0x1.ffffffp127, math.Inf(-1), math.NaN(),
		math.MaxFloat32, math.Copysign(0, -1), 1 + 0x1p-23, 1 + 0x1p-24}
	for k := range eachKernel {
		for n := range 40 {
			for at := range n {
				for _, v := range values {
					row, dst := make([]float64, n), make([]float32, n+1)
					row[at], dst[n] = v, 7
					finite, exact := NarrowTo(dst[:n], row)
					single := float32(v)
					if back := float64(single); finite != (back-back == 0) || exact != (back == v) {
						t.Fatalf("%s: %v in place %d of %d is finite %v, exact %v", k.name, v, at, n, finite, exact)
					}
					want := make([]float32, n+1)
					want[at], want[n] = single, 7
					for i := range want {
						if want[i] == want[i] && math.Float32bits(dst[i]) != math.Float32bits(want[i]) {
							t.Fatalf("%s: %v in place %d of %d: number %d is %v", k.name, v, at, n, i, dst[i])
						}
					}
				}
			}
		}
	}
}

func BenchmarkMix(b *testing.B) {
	const n = Block
	for k := range eachKernel {
		u, first, z := make([]float64, n), make([]float64, n), make([]float64, n)
		kept := [][]float64{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
		single := make([]float32, n)
		c := NewCascade(0.5, []Section{{0.9, 0.3, 1.7, 0.8, 2}, {0.2, 0.1, 0.5, 0.2, 2}})
		for name, f := range map[string]func(){
			"AddScaled": func() { AddScaled(u, 0.5, first) },
			"Cascade":   func() { c.StepTo(u, z, kept) },
			"Level":     func() { LevelTo(u, 0.5, first, false) },
			"Narrow":    func() { NarrowTo(single, u) },
			"Grid":      func() { LevelOnGrid(u, 0.5, 0x1p-20) },
		} {
			b.Run(name+"/"+k.name, func(b *testing.B) {
				b.SetBytes(8 * n)
				for b.Loop() {
					f()
				}
			})
		}
	}
}
