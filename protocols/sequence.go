package protocols

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"mafalda/graph"
	"mafalda/internal/rounding"
)

// Sequence is a sequence of weight matrices on directed graphs that repeats: W(t) in round t has w_ij > 0 where node j sends to node i.
type Sequence struct {
	labels  []string
	weights []*graph.CSR
	slack   float64 // what rounding of messages, and of the weights' sums, does to a message of norm one
}

// NewSequence checks what push-sum with a sensitivity estimate needs (Zhou et al., Assumption 1 and Definition 1): every matrix
// doubly stochastic with a positive diagonal, the union of all graphs strongly connected. Errors wrap ErrNetwork and name the round,
// counted from 0.
func NewSequence(labels []string, weights []*graph.CSR) (*Sequence, error) {
	n := len(labels)
	if n < 2 || len(weights) == 0 {
		return nil, fmt.Errorf("%w: %d nodes and %d rounds: push-sum needs two nodes and a round", ErrNetwork, n, len(weights))
	}
	var union []graph.Edge
	seen := map[[2]int]bool{}
	for t, w := range weights {
		if err := doublyStochastic(labels, w); err != nil {
			return nil, fmt.Errorf("%w: round %d: %w", ErrNetwork, t, err)
		}
		w.DoNonZero(func(i, j int, v float64) {
			if v > 0 && i != j && !seen[[2]int{i, j}] {
				seen[[2]int{i, j}] = true
				union = append(union, graph.Edge{U: i, V: j, Weight: 1})
			}
		})
	}
	g, err := graph.New(labels, union, true)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	if !g.StronglyConnected() {
		return nil, fmt.Errorf("%w: not every node reaches every other, even over all %d rounds together", ErrNetwork, len(weights))
	}
	return &Sequence{labels, weights, slackOf(weights)}, nil
}

// slackOf bounds the rounding of sums of messages, and by how much the rows of the weights do not sum to 1.
func slackOf(weights []*graph.CSR) float64 {
	terms, defect := 0, 0.0
	for _, w := range weights {
		n, _ := w.Dims()
		for i := range n {
			var sum rounding.Sum
			w.DoRowNonZero(i, func(_, _ int, v float64) { sum.Add(v) })
			terms, defect = max(terms, w.RowNNZ(i)), math.Max(defect, math.Abs(sum.Value()-1))
		}
	}
	return math.Max(0x1p-44, 8*float64(terms+2)*0x1p-53) + 2*defect
}

// doublyStochastic says what is wrong with a weight matrix.
func doublyStochastic(labels []string, w *graph.CSR) error {
	n := len(labels)
	if r, c := w.Dims(); r != n || c != n {
		return fmt.Errorf("a %d×%d matrix for %d nodes", r, c, n)
	}
	rows, columns := make([]float64, n), make([]float64, n)
	var err error
	w.DoNonZero(func(i, j int, v float64) {
		if !(v >= 0) || math.IsInf(v, 1) {
			err = fmt.Errorf("weight %v from node %s to %s: must be finite and not negative", v, labels[j], labels[i])
		}
		rows[i] += v
		columns[j] += v
	})
	const tolerance = 1e-9
	for i := range n {
		switch {
		case err != nil:
		case !(w.At(i, i) > 0):
			err = fmt.Errorf("node %s keeps nothing of its own value: every node needs a self-loop", labels[i])
		case math.Abs(rows[i]-1) > tolerance:
			err = fmt.Errorf("what node %s receives is weighted by %.6g in all, not 1: the weights are not doubly stochastic", labels[i], rows[i])
		case math.Abs(columns[i]-1) > tolerance:
			err = fmt.Errorf("what node %s sends is weighted by %.6g in all, not 1: the weights are not doubly stochastic", labels[i], columns[i])
		}
	}
	return err
}

// Nodes returns n.
func (s *Sequence) Nodes() int { return len(s.labels) }

// Labels returns the nodes' names.
func (s *Sequence) Labels() []string { return s.labels }

// Period returns after how many rounds the matrices repeat.
func (s *Sequence) Period() int { return len(s.weights) }

// Weights returns W(t).
func (s *Sequence) Weights(t int) *graph.CSR { return s.weights[t%len(s.weights)] }

// Static repeats one gossip matrix.
func Static(labels []string, w *graph.Gossip) (*Sequence, error) {
	return NewSequence(labels, []*graph.CSR{w.Matrix()})
}

func numbers(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	return labels
}

// maxCirculant is the largest number of nodes of DOut and EXP: calibration has n³ steps.
const maxCirculant = 1 << 14

// circulant lets node i send to i + offset for each offset, itself among them, with equal weights.
func circulant(n int, offsets []int) *graph.CSR {
	share := 1 / float64(len(offsets))
	indptr, indices, data := []int{0}, []int(nil), []float64(nil)
	receives := make([]float64, n)
	for i := range n {
		for _, o := range offsets {
			receives[((i-o)%n+n)%n] += share
		}
		for j, v := range receives {
			if v > 0 {
				indices, data = append(indices, j), append(data, v)
				receives[j] = 0
			}
		}
		indptr = append(indptr, len(indices))
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}

// DOut is the d-Out graph (Zhou et al., Remark 2): node i sends to i, i+1, …, i+d-1 modulo n, so to itself and d-1 others, with
// weights 1/d.
func DOut(n, d int) (*Sequence, error) {
	if n < 2 || n > maxCirculant || d < 2 || d > n {
		return nil, fmt.Errorf("%w: d-out:%d,%d: must have from 2 to %d nodes, and 2 ≤ d ≤ n (one of the d is the node itself)", ErrNetwork, n, d, maxCirculant)
	}
	offsets := make([]int, d)
	for o := range offsets {
		offsets[o] = o
	}
	return NewSequence(numbers(n), []*graph.CSR{circulant(n, offsets)})
}

// EXP is the time-varying exponential graph: in round t node i sends to itself and to i + 2^(t mod p) modulo n, with weights ½, where
// p = ⌊log₂(n-1)⌋ + 1 (Assran et al. 2019; Remark 2 of Zhou et al. prints ⌈⌉, with which all nodes of n = 2^k send only to themselves
// in every last round). With n = 2^p everybody has the exact average after p rounds without noise.
func EXP(n int) (*Sequence, error) {
	if n < 2 || n > maxCirculant {
		return nil, fmt.Errorf("%w: exp:%d: must have from 2 to %d nodes", ErrNetwork, n, maxCirculant)
	}
	var weights []*graph.CSR
	for o := range bits.Len(uint(n - 1)) {
		weights = append(weights, circulant(n, []int{0, 1 << o}))
	}
	return NewSequence(numbers(n), weights)
}

// Weighting makes a weight matrix of the edges of a round, "u sends to v".
type Weighting int

const (
	// OutDegree weights: a node divides its value evenly between itself and those it sends to. Doubly stochastic only if everybody
	// receives as much as it gives.
	OutDegree Weighting = iota
	// MetropolisWeights need every edge in both directions, and are always doubly stochastic.
	MetropolisWeights
)

// ReadSequence reads a sequence of directed graphs: an edge list "u v" (u sends to v) for each round, rounds separated by empty lines,
// comments starting with # or %. All nodes that are named somewhere take part; those without edges in a round keep their values. With
// MetropolisWeights edges have no direction. Errors wrap ErrNetwork and name the source and the line.
func ReadSequence(r io.Reader, source string, weighting Weighting) (*Sequence, error) {
	var labels []string
	number := map[string]int{}
	node := func(label string) int {
		i, ok := number[label]
		if !ok {
			i = len(labels)
			number[label] = i
			labels = append(labels, label)
		}
		return i
	}
	var rounds [][][2]int
	var current [][2]int
	flush := func() {
		if len(current) > 0 {
			rounds = append(rounds, current)
		}
		current = nil
	}
	scanner := bufio.NewScanner(r)
	line := 0
	for scanner.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\xef\xbb\xbf"))
		switch fields := strings.Fields(text); {
		case text == "":
			flush()
		case text[0] == '#' || text[0] == '%':
		case len(fields) != 2:
			return nil, fmt.Errorf("%w: %s:%d: %q is not two labels \"u v\" (weights are made from the edges)", ErrNetwork, source, line, text)
		case graph.CheckLabel(fields[0]+fields[1]) != nil:
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrNetwork, source, line, graph.CheckLabel(fields[0]+fields[1]))
		case fields[0] != fields[1]:
			current = append(current, [2]int{node(fields[0]), node(fields[1])})
		default:
			node(fields[0]) // everybody has a self-loop
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		return nil, fmt.Errorf("%w: %s:%d: %w", ErrNetwork, source, line+1, err)
	}
	flush()
	if len(rounds) == 0 {
		return nil, fmt.Errorf("%w: %s: no edges", ErrNetwork, source)
	}
	var weights []*graph.CSR
	for _, edges := range rounds {
		weights = append(weights, weighting.matrix(len(labels), edges))
	}
	s, err := NewSequence(labels, weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// matrix returns the weights of a round.
func (w Weighting) matrix(n int, edges [][2]int) *graph.CSR {
	rows := make([]map[int]float64, n) // rows[i][j] > 0: i receives from j
	for i := range rows {
		rows[i] = map[int]float64{}
	}
	for _, e := range edges {
		rows[e[1]][e[0]] = 1
		if w == MetropolisWeights {
			rows[e[0]][e[1]] = 1
		}
	}
	degree := make([]int, n) // of what a node sends; with both directions also of what it receives
	for _, row := range rows {
		for j := range row {
			degree[j]++
		}
	}
	indptr, indices, data := []int{0}, []int(nil), []float64(nil)
	for i, row := range rows {
		left := 1.0
		for j := range row {
			if w == MetropolisWeights {
				row[j] = 1 / float64(1+max(degree[i], degree[j]))
				left -= row[j]
			} else {
				row[j] = 1 / float64(1+degree[j])
			}
		}
		row[i] = left
		if w == OutDegree {
			row[i] = 1 / float64(1+degree[i])
		}
		for j := range n {
			if v, ok := row[j]; ok {
				indices, data = append(indices, j), append(data, v)
			}
		}
		indptr = append(indptr, len(indices))
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}
