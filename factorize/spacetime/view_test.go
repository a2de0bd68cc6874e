package spacetime

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// What the updates make of M⁻¹ is what factoring every M_A gives.
func TestViewIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(rt, "n")
		s := drawSetting(rt, n)
		d := newDesign(drawGram(rt, n), s)
		x := drawPoint(rt, d)
		noise := noiseOf(t, s, x)
		p := newPosition(d, x)
		if p == nil {
			rt.Fatal("no position")
		}
		for at, threat := range d.threats {
			var v view
			if !v.see(p, at) {
				rt.Fatal("no view")
			}
			solutions := dense.NewGeneral(len(threat.Victims), n)
			all := lists.UpTo(n)
			v.entriesTo(solutions, threat.Victims, all)
			block := dense.NewGeneral(n, n)
			v.entriesTo(block, all, all)
			for i, victim := range threat.Victims {
				want := slowReach(noise, threat.Attacker, victim)
				if got := p.reach[at][i] * s.Attackers.Weight(victim); math.Abs(got-want) > 1e-10*want {
					rt.Fatalf("reach of %v against %d is %v, want %v", threat.Attacker, victim, got, want)
				}
				row := solutions.Data[i*n : (i+1)*n]
				if !floats.EqualApprox(row, block.Data[victim*n:(victim+1)*n], 1e-9/want) {
					rt.Fatalf("M_A⁻¹d_v = %v, want %v", row, block.Data[victim*n:(victim+1)*n])
				}
				if math.Abs(row[victim]*want-1) > 1e-10 {
					rt.Fatalf("its entry v is %v, want %v", row[victim], 1/want)
				}
				for _, a := range threat.Attacker {
					if row[a] != 0 {
						rt.Fatalf("it is not zero on the attacker: %v", row)
					}
				}
			}
		}
		if got, want := p.least(), slowLeast(noise, s.Attackers); math.Abs(got-want) > 1e-10*want {
			rt.Fatalf("least reach %v, want %v", got, want)
		}
	})
}

// newtonCase is a point with constraints that all count.
func newtonCase(t *rapid.T) (d *design, x []float64, active [][]constraint) {
	n := rapid.IntRange(2, 6).Draw(t, "n")
	d = newDesign(drawGram(t, n), drawSetting(t, n))
	x = drawPoint(t, d)
	active = make([][]constraint, len(d.threats))
	for i, threat := range d.threats {
		for at := range threat.Victims {
			active[i] = append(active[i], constraint{at, rapid.Float64Range(0.001, 0.01).Draw(t, "slack"),
				rapid.Float64Range(0.1, 1).Draw(t, "weight")})
		}
	}
	return d, x, active
}

// Rows are the derivatives of the reaches, which are homogeneous of degree one.
func TestRowsAreDerivatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, x, active := newtonCase(t)
		p := newPosition(d, x)
		w := gather(p, active)
		row := make([]float64, d.size())
		for k := range w.weight {
			d.rowTo(row, w.row(k), w.threat[k])
			if got := dot(row, x); math.Abs(got-w.reach[k]) > 1e-10*w.reach[k] {
				t.Fatalf("row times x is %v, want the reach %v", got, w.reach[k])
			}
		}
		const h = 1e-5
		for i := range x {
			ahead, behind := newPosition(d, moved(x, i, h)), newPosition(d, moved(x, i, -h))
			k := 0
			for at, reach := range ahead.reach {
				for j := range reach {
					d.rowTo(row, w.row(k), w.threat[k])
					want := (reach[j] - behind.reach[at][j]) / (2 * h)
					if math.Abs(row[i]-want) > 1e-6*(1+math.Abs(want)) {
						t.Fatalf("derivative %d of reach %d is %v, want %v", i, k, row[i], want)
					}
					k++
				}
			}
		}
	})
}

func moved(x []float64, i int, by float64) []float64 {
	y := append([]float64(nil), x...)
	y[i] += by
	return y
}

// The matrix of a Newton step is minus the derivative of the weighted rows, and the squares.
func TestNewtonMatrixIsTheSecondDerivative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, x, active := newtonCase(t)
		p := newPosition(d, x)
		w := gather(p, active)
		var m newton
		m.assemble(p, w, make([]float64, d.size()))
		row := make([]float64, d.size())
		const h = 1e-5
		pulled := func(x []float64) []float64 {
			at := newPosition(d, x)
			sum := make([]float64, d.size())
			gather(at, active).pullTo(d, sum, w.weight)
			return sum
		}
		for i := range x {
			ahead, behind := pulled(moved(x, i, h)), pulled(moved(x, i, -h))
			for j := range i + 1 {
				want := -(ahead[j] - behind[j]) / (2 * h)
				for k, y := range w.weight {
					d.rowTo(row, w.row(k), w.threat[k])
					want += y / w.slack[k] * row[i] * row[j]
				}
				got := m.matrix[i*m.size+j]
				scale := math.Sqrt(m.matrix[i*m.size+i] * m.matrix[j*m.size+j])
				if math.Abs(got-want) > 1e-5*scale+1e-8 {
					t.Fatalf("entry (%d,%d) is %v, want %v", i, j, got, want)
				}
			}
		}
		product, pull := make([]float64, len(w.weight)), make([]float64, d.size())
		w.mulTo(product, x)
		w.pullTo(d, pull, w.weight)
		if left, right := dot(product, w.weight), dot(pull, x); math.Abs(left-right) > 1e-10*right {
			t.Fatalf("mulTo and pullTo are not transposed: %v and %v", left, right)
		}
	})
}
