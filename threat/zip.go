package threat

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// buildZip is build for ZipDL. A node j sends θ_j + g_j + ξ_ji to every neighbour i ≠ j that averages over it, with Σ_i
// ξ_ji = 0, and keeps θ_j + g_j. State is θ of the nodes that are not attackers.
func buildZip(w *graph.CSR, a Attacker, steps int) *system {
	n, _ := w.Dims()
	nodes := newSights(n, a).victims
	messages, covariance := zipped(w, nodes)
	entering := func(recipients []int) *mat.Dense { // how the messages' noise enters the sums of recipients
		m, at := mat.NewDense(len(recipients), covariance.SymmetricDim(), nil), lists.Places(recipients)
		for x, ends := range messages {
			if i, there := at[ends[1]]; there {
				m.Set(i, x, w.At(ends[1], ends[0]))
			}
		}
		return m
	}
	averages := part(w, nodes, nodes)
	s := &stage{f: averages, e: averages}
	into, seen := entering(nodes), (*mat.Dense)(nil)
	if a.SecureSummation {
		s.c, seen = part(w, a.Nodes, nodes), entering(a.Nodes)
	} else {
		single := slices.DeleteFunc(lists.UpTo(len(messages)), func(x int) bool {
			return !a.Trust.Public() && !slices.Contains(a.Nodes, messages[x][1])
		})
		senders := lists.Map(single, func(x int) int { return messages[x][0] })
		s.c, seen = picking(senders, nodes), picking(single, lists.UpTo(len(messages)))
	}
	s.q = symmetric(mul(mul(into, covariance), into.T()))
	if seen != nil {
		s.d, s.r, s.x = s.c, symmetric(mul(mul(seen, covariance), seen.T())), mul(mul(into, covariance), seen.T())
	}
	same := func(int) *stage { return s }
	return &system{steps: steps, rounds: steps, victims: nodes, stage: same, degenerate: true}
}

// zipped returns the messages of Zip-DL that some nodes send in a step, senders with recipients, and the covariance of the
// noise in them, which has a zero where there are none.
func zipped(w *graph.CSR, nodes []int) (messages [][2]int, covariance *mat.SymDense) {
	n, _ := w.Dims()
	recipients := make([][]int, n) // of every sender
	w.DoNonZero(func(i, j int, v float64) {
		if i != j && v != 0 {
			recipients[j] = append(recipients[j], i)
		}
	})
	for _, j := range nodes {
		for _, i := range recipients[j] {
			messages = append(messages, [2]int{j, i})
		}
	}
	covariance = mat.NewSymDense(max(len(messages), 1), nil)
	for x, m := range messages {
		for y := range x + 1 {
			if messages[y][0] == m[0] {
				covariance.SetSym(y, x, -1/float64(len(recipients[m[0]])))
			}
		}
		covariance.SetSym(x, x, 1+covariance.At(x, x))
	}
	return messages, covariance
}
