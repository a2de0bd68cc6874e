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
	z := newZipped(w, a)
	nodes := len(z.nodes)
	s := &stage{f: part(w, z.nodes, z.nodes), e: part(w, z.nodes, z.nodes)}
	into := z.noiseMap(w)
	if nodes > 0 {
		s.q = mat.NewSymDense(nodes, nil)
		if into != nil {
			s.q = symmetric(mul(mul(into, z.covariance), into.T()))
		}
	}
	var pick *mat.Dense // seen×messages: how noise is seen
	if a.SecureSummation {
		s.c, pick = z.sums(w, a)
	} else {
		s.c, pick = z.single(a)
	}
	if pick != nil {
		if into == nil {
			into = mat.NewDense(max(nodes, 1), max(len(z.messages), 1), nil)
		}
		s.d = s.c
		s.r = symmetric(mul(mul(pick, z.covariance), pick.T()))
		s.x = mul(mul(into, z.covariance), pick.T())
	}
	same := func(int) *stage { return s }
	return &system{steps: steps, rounds: steps, victims: z.nodes, stage: same, degenerate: true}
}

// zipped are the messages of Zip-DL that nodes other than the attackers send in a step.
type zipped struct {
	nodes      []int         // that are not attackers
	at         map[int]int   // their positions
	messages   [][2]int      // sender, recipient; a sender's lie together
	covariance *mat.SymDense // the covariance of the noise in the messages
}

func newZipped(w *graph.CSR, a Attacker) *zipped {
	n, _ := w.Dims()
	z := &zipped{nodes: newSights(n, a).victims}
	z.at = lists.Places(z.nodes)
	recipients := make([][]int, n) // of every sender
	w.DoNonZero(func(i, j int, v float64) {
		if i != j && v != 0 {
			recipients[j] = append(recipients[j], i)
		}
	})
	for _, j := range z.nodes {
		for _, i := range recipients[j] {
			z.messages = append(z.messages, [2]int{j, i})
		}
	}
	z.covariance = mat.NewSymDense(max(len(z.messages), 1), nil)
	for x, m := range z.messages {
		for y := x; y < len(z.messages) && z.messages[y][0] == m[0]; y++ {
			v := -1 / float64(len(recipients[m[0]]))
			if x == y {
				v++
			}
			z.covariance.SetSym(x, y, v)
		}
	}
	return z
}

// noiseMap returns how the messages' noise enters the next θ, nodes×messages.
func (z *zipped) noiseMap(w *graph.CSR) *mat.Dense {
	into := zeros(len(z.nodes), len(z.messages))
	for x, m := range z.messages {
		if i, ok := z.at[m[1]]; ok {
			into.Set(i, x, w.At(m[1], m[0]))
		}
	}
	return into
}

// single returns how θ and noise are seen in single messages: those to attackers, or all where messages are public.
func (z *zipped) single(a Attacker) (state, noise *mat.Dense) {
	var seen []int
	for x, m := range z.messages {
		if a.Trust.Public() || slices.Contains(a.Nodes, m[1]) {
			seen = append(seen, x)
		}
	}
	senders := lists.Map(seen, func(x int) int { return z.messages[x][0] })
	return picking(senders, z.nodes), picking(seen, lists.UpTo(len(z.messages)))
}

// sums returns how they are seen in the attackers' weighted sums of messages.
func (z *zipped) sums(w *graph.CSR, a Attacker) (state, noise *mat.Dense) {
	if len(z.messages) == 0 {
		return nil, nil
	}
	noise = zeros(len(a.Nodes), len(z.messages))
	for x, m := range z.messages {
		if i := slices.Index(a.Nodes, m[1]); i >= 0 {
			noise.Set(i, x, w.At(m[1], m[0]))
		}
	}
	return part(w, a.Nodes, z.nodes), noise
}
