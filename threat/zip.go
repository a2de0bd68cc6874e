package threat

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// buildZip is build for ZipDL. A node j sends θ_j + g_j + ξ_ji to every neighbour i ≠ j that averages over it, with Σ_i ξ_ji = 0,
// and keeps θ_j + g_j. State is θ of the nodes that are not attackers.
func buildZip(w *graph.CSR, a Attacker, steps int) (*system, error) {
	n, _ := w.Dims()
	var nodes []int
	for v := range n {
		if !slices.Contains(a.Nodes, v) {
			nodes = append(nodes, v)
		}
	}
	recipients := make([][]int, n) // of every sender
	w.DoNonZero(func(i, j int, v float64) {
		if i != j && v != 0 {
			recipients[j] = append(recipients[j], i)
		}
	})
	var messages [][2]int // sender, recipient
	for _, j := range nodes {
		for _, i := range recipients[j] {
			messages = append(messages, [2]int{j, i})
		}
	}
	cov := mat.NewSymDense(max(len(messages), 1), nil)
	for x, m := range messages {
		for y := x; y < len(messages) && messages[y][0] == m[0]; y++ {
			v := -1 / float64(len(recipients[m[0]]))
			if x == y {
				v++
			}
			cov.SetSym(x, y, v)
		}
	}
	at := map[int]int{}
	for i, v := range nodes {
		at[v] = i
	}
	var seen []int // messages
	for x, m := range messages {
		if a.Trust != PNDP || slices.Contains(a.Nodes, m[1]) {
			seen = append(seen, x)
		}
	}
	into := zeros(len(nodes), len(messages)) // noise of messages into the next θ
	for x, m := range messages {
		if i, ok := at[m[1]]; ok {
			into.Set(i, x, w.At(m[1], m[0]))
		}
	}
	s := &stage{f: part(w, nodes, nodes), e: part(w, nodes, nodes)}
	if len(nodes) > 0 {
		s.q = mat.NewSymDense(len(nodes), nil)
		if into != nil {
			s.q = symmetric(mul(mul(into, cov), into.T()))
		}
	}
	if a.SecureSummation {
		zipSums(s, w, a, nodes, messages, cov, into)
	} else if len(seen) > 0 {
		pick := zeros(len(seen), len(messages))
		s.c = zeros(len(seen), len(nodes))
		for y, x := range seen {
			pick.Set(y, x, 1)
			s.c.Set(y, at[messages[x][0]], 1)
		}
		s.d = s.c
		s.r = symmetric(mul(mul(pick, cov), pick.T()))
		s.x = mul(mul(into0(into, len(nodes), len(messages)), cov), pick.T())
	}
	return &system{steps: steps, rounds: steps, victims: nodes, stage: func(int) *stage { return s }, degenerate: true}, nil
}

// zipSums lets the attackers see their weighted sums of messages only.
func zipSums(s *stage, w *graph.CSR, a Attacker, nodes []int, messages [][2]int, cov *mat.SymDense, into *mat.Dense) {
	if len(messages) == 0 {
		return
	}
	pick := zeros(len(a.Nodes), len(messages))
	for x, m := range messages {
		if i := slices.Index(a.Nodes, m[1]); i >= 0 {
			pick.Set(i, x, w.At(m[1], m[0]))
		}
	}
	s.c = part(w, a.Nodes, nodes)
	s.d = s.c
	s.r = symmetric(mul(mul(pick, cov), pick.T()))
	s.x = mul(mul(into0(into, len(nodes), len(messages)), cov), pick.T())
}

func into0(into *mat.Dense, rows, cols int) *mat.Dense {
	if into == nil {
		return mat.NewDense(max(rows, 1), max(cols, 1), nil)
	}
	return into
}
