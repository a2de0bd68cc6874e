package threat

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// View is an attacker's knowledge O = A G + B Z written out (Bellet et al., Definition 4): rows are what it knows, columns
// of A the gradients "time, then node" (nT), columns of B all noise of unit variance. It is the definition that Account is
// tested against, for small n and T: it has (pT + ...)·nT entries.
type View struct {
	Nodes, Steps int
	A, B         *mat.Dense
	Learned      []int // the step in which every row is learned
	Known        []int // columns of A that are known gradients (rows of A without noise)
}

// Explicit writes the view out by running the algorithm on symbols: every message is a row of coefficients.
func Explicit(w *graph.CSR, a Algorithm, attacker Attacker, steps int) (*View, error) {
	n, _ := w.Dims()
	if err := attacker.check(n); err != nil {
		return nil, err
	}
	if err := a.fits(steps); err != nil {
		return nil, err
	}
	r := &run{w: w.ToDense(), algorithm: a, attacker: attacker, n: n, steps: steps}
	r.draw(w)
	theta := mat.NewDense(n, r.columns(), nil)
	for t := range steps {
		message := mat.DenseCopyOf(theta)
		for v := range n {
			message.Set(v, t*n+v, message.At(v, t*n+v)+1)
		}
		if a.zip {
			theta = r.zipStep(message, t)
			continue
		}
		for v := range n {
			r.addNoise(message.RawRowView(v), t, v)
		}
		for range a.rounds {
			next := mul(r.w, message)
			r.see(message, next, t)
			message = next
		}
		theta = message
	}
	return r.view()
}

// run is the state of Explicit: rows seen so far, coefficients of gradients and then of noise.
type run struct {
	w         *mat.Dense
	algorithm Algorithm
	attacker  Attacker
	n, steps  int
	edges     [][2]int       // of DECOR, in any orientation
	messages  map[[2]int]int // of Zip-DL: sender and recipient
	noise     int            // columns of noise
	noising   *mat.Dense     // T×T, C⁻¹ of every node
	rows      [][]float64
	learned   []int // the step of every row
}

func (r *run) columns() int { return r.n*r.steps + r.noise }

// draw numbers the noise: of nodes, step by step, then of edges or messages.
func (r *run) draw(w *graph.CSR) {
	r.noise = r.n * r.steps
	r.edges = edges(w)
	r.messages = map[[2]int]int{}
	if r.algorithm.shared > 0 {
		r.noise += len(r.edges) * r.steps
	}
	if r.algorithm.zip {
		w.DoNonZero(func(i, j int, v float64) {
			if i != j && v != 0 {
				r.messages[[2]int{j, i}] = len(r.messages)
			}
		})
		r.noise = len(r.messages) * r.steps
	}
	if r.algorithm.dense != nil {
		var z mat.TriDense
		if err := r.algorithm.dense.NoisingTo(&z); err == nil {
			r.noising = mat.DenseCopyOf(&z)
		}
		return
	}
	r.noising = r.algorithm.noising(r.steps)
}

// addNoise adds the noise of node v's message in step t.
func (r *run) addNoise(row []float64, t, v int) {
	z := row[r.n*r.steps:]
	for s := range t + 1 {
		z[s*r.n+v] += r.algorithm.alone * r.noising.At(t, s)
	}
	if r.algorithm.shared == 0 {
		return
	}
	for e, edge := range r.edges {
		switch v {
		case edge[0]:
			z[r.n*r.steps+t*len(r.edges)+e] += r.algorithm.shared
		case edge[1]:
			z[r.n*r.steps+t*len(r.edges)+e] -= r.algorithm.shared
		}
	}
}

// see notes what the attacker learns when messages are averaged to next.
func (r *run) see(message, next *mat.Dense, t int) {
	if r.attacker.SecureSummation {
		for _, a := range r.attacker.Nodes {
			if r.attacker.ForgetOwnNoise {
				r.learn(message.RawRowView(a), t)
			} else {
				r.learn(next.RawRowView(a), t)
			}
		}
		return
	}
	for v := range r.n {
		visible := r.attacker.Trust != PNDP || slices.Contains(r.attacker.Nodes, v)
		for _, a := range r.attacker.Nodes {
			visible = visible || r.w.At(a, v) != 0
		}
		if visible {
			r.learn(message.RawRowView(v), t)
		}
	}
}

// learn notes a row.
func (r *run) learn(row []float64, t int) {
	r.rows, r.learned = append(r.rows, slices.Clone(row)), append(r.learned, t)
}

// zipStep is a step of Zip-DL: noise of single messages, which sums to zero over those of a sender.
func (r *run) zipStep(message *mat.Dense, t int) *mat.Dense {
	next := mul(r.w, message)
	sums := mat.DenseCopyOf(next)
	for from := range r.n {
		var recipients []int
		for to := range r.n {
			if _, ok := r.messages[[2]int{from, to}]; ok {
				recipients = append(recipients, to)
			}
		}
		for _, to := range recipients {
			sent := slices.Clone(message.RawRowView(from))
			for _, other := range recipients {
				c := -1 / float64(len(recipients))
				if other == to {
					c++
				}
				column := r.n*r.steps + t*len(r.messages) + r.messages[[2]int{from, other}]
				sent[column] += c
				next.Set(to, column, next.At(to, column)+r.w.At(to, from)*c)
				sums.Set(to, column, next.At(to, column))
			}
			if !r.attacker.SecureSummation && (r.attacker.Trust != PNDP || slices.Contains(r.attacker.Nodes, to)) {
				r.learn(sent, t)
			}
		}
	}
	if r.attacker.SecureSummation {
		for _, a := range r.attacker.Nodes {
			r.learn(sums.RawRowView(a), t)
		}
	}
	return next
}

// view adds what the attackers know of themselves and splits the rows into A and B.
func (r *run) view() (*View, error) {
	v := &View{Nodes: r.n, Steps: r.steps}
	unit := func(column, t int) {
		row := make([]float64, r.columns())
		row[column] = 1
		r.learn(row, t)
	}
	gradients := r.n * r.steps
	for _, a := range r.attacker.Nodes {
		for t := range r.steps {
			unit(t*r.n+a, t)
			v.Known = append(v.Known, t*r.n+a)
			if r.attacker.ForgetOwnNoise && !r.algorithm.zip {
				continue
			}
			if !r.algorithm.zip {
				unit(gradients+t*r.n+a, t)
			}
			for e, edge := range r.edges {
				if r.algorithm.shared > 0 && (edge[0] == a || edge[1] == a) {
					unit(gradients+gradients+t*len(r.edges)+e, t)
				}
			}
			for m, i := range r.messages {
				if m[0] == a {
					unit(gradients+t*len(r.messages)+i, t)
				}
			}
		}
	}
	if len(r.rows) == 0 { // it sees nothing
		r.learn(make([]float64, r.columns()), 0)
	}
	v.Learned = r.learned
	v.A, v.B = mat.NewDense(len(r.rows), gradients, nil), mat.NewDense(len(r.rows), max(r.noise, 1), nil)
	for i, row := range r.rows {
		v.A.SetRow(i, row[:gradients])
		copy(v.B.RawRowView(i), row[gradients:])
	}
	return v, nil
}

// Reduce returns the view without the influence of known gradients (Lemma 11): A(I - K⁺K) for the rows K of A that know
// gradients and carry no noise.
func (v *View) Reduce() *View {
	a := mat.DenseCopyOf(v.A)
	rows, _ := a.Dims()
	for _, column := range v.Known {
		for i := range rows {
			a.Set(i, column, 0)
		}
	}
	return &View{v.Nodes, v.Steps, a, v.B, v.Learned, nil}
}

// SelectRows returns the view without rows whose noise is a combination of that of earlier rows (Algorithm 3): B then has
// full row rank.
func (v *View) SelectRows() *View {
	rows, cols := v.B.Dims()
	var basis []*mat.VecDense
	var kept []int
	for i := range rows {
		x := mat.NewVecDense(cols, slices.Clone(v.B.RawRowView(i)))
		before := mat.Norm(x, 2)
		for range 2 {
			for _, b := range basis {
				x.AddScaledVec(x, -mat.Dot(b, x), b)
			}
		}
		if after := mat.Norm(x, 2); before > 0 && after > 1e-10*before {
			x.ScaleVec(1/after, x)
			basis, kept = append(basis, x), append(kept, i)
		}
	}
	_, gradients := v.A.Dims()
	out := &View{Nodes: v.Nodes, Steps: v.Steps, A: zeros(len(kept), gradients), B: zeros(len(kept), cols)}
	for at, i := range kept {
		out.A.SetRow(at, v.A.RawRowView(i))
		out.B.SetRow(at, v.B.RawRowView(i))
		out.Learned = append(out.Learned, v.Learned[i])
	}
	return out
}

// Echelon reports whether A is a column-echelon matrix by steps: what is learned in a step depends on gradients up to that
// step only, as Theorem 7 asks for gradients that depend on what was learned before.
func (v *View) Echelon() bool {
	for i, learned := range v.Learned {
		for j, x := range v.A.RawRowView(i) {
			if x != 0 && j/v.Nodes > learned {
				return false
			}
		}
	}
	return true
}

// Exposure returns M of a victim by pseudo-inverses: A_uᵀ(BBᵀ)⁺A_u of the reduced view, infinite if A_u ≠ BB⁺A_u.
func (v *View) Exposure(victim int) (Exposure, error) {
	reduced := v.Reduce()
	var svd mat.SVD
	if !svd.Factorize(reduced.B, mat.SVDThin) {
		return Exposure{}, fmt.Errorf("singular values of the attacker's view did not converge")
	}
	values := svd.Values(nil)
	var u mat.Dense
	svd.UTo(&u)
	rows, _ := u.Dims()
	a := mat.NewDense(rows, v.Steps, nil)
	for t := range v.Steps {
		a.SetCol(t, mat.Col(nil, t*v.Nodes+victim, reduced.A))
	}
	var scaled mat.Dense
	scaled.Mul(u.T(), a)
	rest := mat.DenseCopyOf(a)
	for i, s := range values {
		row := scaled.RawRowView(i)
		if s <= 1e-10*values[0] {
			clear(row)
			continue
		}
		var back mat.Dense
		back.Outer(1, u.ColView(i), mat.NewVecDense(v.Steps, slices.Clone(row)))
		rest.Sub(rest, &back)
		for j := range row {
			row[j] /= s
		}
	}
	if slices.Contains(v.victimsKnown(), victim) || mat.Norm(rest, math.Inf(1)) > 1e-7 {
		return Exposure{Victim: victim, Infinite: true}, nil
	}
	m := mat.NewSymDense(v.Steps, nil)
	m.SymOuterK(1, scaled.T())
	return Exposure{Victim: victim, M: m}, nil
}

// victimsKnown lists the nodes whose gradients are known.
func (v *View) victimsKnown() []int {
	var nodes []int
	for _, column := range v.Known {
		if !slices.Contains(nodes, column%v.Nodes) {
			nodes = append(nodes, column%v.Nodes)
		}
	}
	return nodes
}
