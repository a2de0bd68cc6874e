package reaction

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The coupling of the proof, simulated: two runs whose hidden nodes answer nonlinearly and differently in every step,
// and a record that jumps. The second run's noise is shifted as the theorem says. Then both show the same, and what the
// shifts cost is below the bound, in every run.
func TestCoupledRunsShowTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 6))
		s, pattern := randomCase(t, r)
		if r.IntN(3) == 0 {
			s = correlated(t, r, s)
		}
		class, node := randomClass(r), r.IntN(s.Nodes)
		all, err := stagesOf(s, Everywhere(class))
		if err != nil || all.unclear {
			rt.Fatal(err)
		}
		b := &bounder{reactiveSystem: &reactiveSystem{stages: all, system: s}, node: node}
		if b.first, err = all.linearly(context.Background()); err != nil || b.first == nil {
			rt.Fatal(err)
		}
		check := func(rt *rapid.T, tr *trace) {
			for range 10 {
				paid, difference := couple(s, tr, class, node, pattern, 1+r.IntN(3), r)
				if paid > tr.bound*(1+1e-9)+1e-20 {
					rt.Fatalf("shifts cost %v, more than %v", paid, tr.bound)
				}
				if difference > 1e-10 {
					rt.Fatalf("views differ by %v", difference)
				}
			}
		}
		for _, sigma := range extras(b.memory(), usual) {
			run := b.forward(b.first, b.linear, pattern, 1, b.centred)
			tr, _, err := b.prove(context.Background(), pattern, runChooser(run, 1, sigma))
			if err != nil {
				rt.Fatal(err)
			}
			if tr == nil {
				continue
			}
			check(rt, tr)
			run = b.forward(tr, b.answers, pattern, dimensions, b.costliest)
			tr, _, err = b.prove(context.Background(), pattern,
				func(t int, s *stepCost) multipliers { return s.balanced(run[t], sigma) })
			if err != nil {
				rt.Fatal(err)
			}
			if tr != nil {
				check(rt, tr)
			}
		}
	})
}

// couple returns what the shifts of two runs cost, Σ|c|², and how much their views differ.
func couple(s *System, tr *trace, class Class, node int, pattern []int, d int,
	r *rand.Rand) (paid, difference float64) {
	m, size := s.Nodes, s.rule(0).size()
	n := m * size
	in := map[int]bool{}
	for _, t := range pattern {
		in[t] = true
	}
	state := [2][]float64{make([]float64, n*d), make([]float64, n*d)}
	for t := pattern[0]; t < len(s.Steps); t++ {
		rule := s.rule(t)
		kind := r.IntN(5)
		var before [2][]float64
		for run := range 2 {
			x := state[run]
			g := make([]float64, m*d)
			for v := range m {
				react(g[v*d:(v+1)*d], x[v*d:(v+1)*d], class, kind+v, t)
			}
			if run == 1 && in[t] {
				jump(g[node*d:(node+1)*d], x[node*d:(node+1)*d])
			}
			sigma := make([]float64, n*d)
			for p := range size {
				kept, gradient, _ := rule.row(p)
				for v := range m {
					row := sigma[(p*m+v)*d : (p*m+v+1)*d]
					for l, c := range kept {
						add(row, c, x[(l*m+v)*d:(l*m+v+1)*d])
					}
					add(row, gradient, g[v*d:(v+1)*d])
				}
			}
			before[run] = sigma
		}
		sigma := make([]float64, n*d) // second run less first
		copy(sigma, before[1])
		add(sigma, -1, before[0])
		gate := tr.back[t].gate
		free := tr.back[t].free(sigma, d)
		padded := make([]float64, gate.k*d)
		copy(padded, free[:gate.h*d])
		wanted := gate.into.transposeTimes(padded, d)[:m*d] // the difference of messages, N ρ
		_, _, fresh := rule.row(0)
		for run := range 2 {
			for v := range m {
				for c := range d {
					z := 0.0
					if run == 0 {
						z = r.NormFloat64()
						state[0][v*d+c] = z // kept for the second run
					} else {
						shift := (sigma[v*d+c] - wanted[v*d+c]) / fresh
						z = state[0][v*d+c] - shift
						paid += shift * shift
					}
					for p := range size {
						_, _, noise := rule.row(p)
						before[run][(p*m+v)*d+c] += noise * z
					}
				}
			}
		}
		difference = math.Max(difference, viewsDiffer(s.Steps[t], before, m, d))
		for run := range 2 {
			copy(state[run], before[run])
			for v := range m * d {
				state[run][v] = 0
			}
			if s.Steps[t].Mix == nil {
				continue
			}
			for v := range m {
				for u := range m {
					add(state[run][v*d:(v+1)*d], s.Steps[t].Mix.At(v, u), before[run][u*d:(u+1)*d])
				}
			}
		}
	}
	return paid, difference
}

// viewsDiffer returns the largest difference of what is seen.
func viewsDiffer(step Step, messages [2][]float64, m, d int) (largest float64) {
	if step.Seen == nil {
		return 0
	}
	rows, _ := step.Seen.Dims()
	for i := range rows {
		for c := range d {
			sum := 0.0
			for v := range m {
				sum += step.Seen.At(i, v) * (messages[1][v*d+c] - messages[0][v*d+c])
			}
			largest = math.Max(largest, math.Abs(sum))
		}
	}
	return largest
}

// react writes a gradient (ρ − 1)x + κψ(x) with a 1-Lipschitz ψ of some kind.
func react(g, x []float64, class Class, kind, t int) {
	for c := range g {
		y := x[c]
		switch kind % 5 {
		case 0:
			y = math.Abs(x[c] - float64(t))
		case 1:
			y = math.Sin(x[c])
		case 2:
			y = min(max(x[c], -0.5), 0.5)
		case 3:
			y = x[(c+1)%len(x)]
		case 4:
			y = -x[c]
		}
		g[c] = (class.Rho-1)*x[c] + class.Kappa*y
	}
}

// jump adds a record's gradient of length 1 that depends on the model without any continuity.
func jump(g, x []float64) {
	length := math.Sqrt(float64(len(g)))
	for c := range g {
		g[c] += math.Copysign(1, math.Sin(50*x[c])) / length
	}
}
