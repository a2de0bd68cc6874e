package spacetime

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The joint bound is for noise that is one covariance between nodes times one strategy over time, and for no other: own
// noise and noise of pairs that differ in their correlation over time can cost less. Everything is computed from the
// definition: the covariance of all messages' noise, what is left of it against every single node, the models' error.
func TestNoiseThatIsNoPairCanCostLess(t *testing.T) {
	const n, steps = 4, 2
	own := [steps][steps]float64{{0.84, -0.419}, {-0.419, 0.998}}
	pair := [steps][steps]float64{{0.4, 0.228}, {0.228, 0.131}}
	for _, c := range [][steps][steps]float64{own, pair} {
		if c[0][0] <= 0 || c[0][0]*c[1][1] <= c[0][1]*c[1][0] {
			t.Fatalf("%v is no covariance", c)
		}
	}
	p := problem(t, "cycle:4", steps, 1)
	joint, err := JointLowerBound(context.Background(), p, optimize(t, p, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	noise := mat.NewSymDense(n*steps, nil) // of node v in step t: v·steps + t
	add := func(u, v int, by float64, c [steps][steps]float64) {
		for s := range steps {
			for r := range steps {
				if i, j := u*steps+s, v*steps+r; i <= j {
					noise.SetSym(i, j, noise.At(i, j)+by*c[s][r])
				}
			}
		}
	}
	for v := range n {
		add(v, v, 1, own)
	}
	for u := range n { // the edges of the cycle
		v := (u + 1) % n
		add(u, u, 1, pair)
		add(v, v, 1, pair)
		add(min(u, v), max(u, v), -1, pair)
	}

	// what a curious node leaves: no row of its own, and not the pairs that it is in
	worst := 0.0
	for attacker := range n {
		var others []int
		for v := range n {
			if v != attacker {
				others = append(others, v)
			}
		}
		left := mat.NewSymDense(len(others)*steps, nil)
		for a, u := range others {
			for b, v := range others {
				for s := range steps {
					for r := range steps {
						value := noise.At(u*steps+s, v*steps+r)
						if u == v && (u-attacker+n)%n != 2 { // its neighbours share with it
							value -= pair[s][r]
						}
						if i, j := a*steps+s, b*steps+r; i <= j {
							left.SetSym(i, j, value)
						}
					}
				}
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(left); err != nil {
			t.Fatal(err)
		}
		for i := range len(others) * steps { // a record takes part in one step
			worst = math.Max(worst, inverse.At(i, i))
		}
	}

	// θ_1 = Wξ_0 and θ_2 = W(θ_1 + ξ_1)
	w := network(t, "cycle:4").Gossip.Matrix().ToDense()
	var twice mat.Dense
	twice.Mul(w, w)
	models := mat.NewDense(steps*n, n*steps, nil)
	for i := range n {
		for v := range n {
			models.Set(i, v*steps, w.At(i, v))
			models.Set(n+i, v*steps, twice.At(i, v))
			models.Set(n+i, v*steps+1, w.At(i, v))
		}
	}
	var half, errors mat.Dense
	half.Mul(models, noise)
	errors.Mul(&half, models.T())
	loss := worst * mat.Trace(&errors)
	if math.Abs(worst-1.00005) > 1e-5 || math.Abs(loss-2.964406) > 1e-6 || math.Abs(joint/3.160804-1) > JointGap(p.Secrets) {
		t.Errorf("sens² %v, loss %v, joint bound %v", worst, loss, joint)
	}
	if loss >= joint {
		t.Errorf("the loss %v is not below the bound %v", loss, joint)
	}
}
