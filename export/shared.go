package export

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"mafalda/graph"
)

// SharedNoise is the noise of nodes that share secrets in pairs: in every step node i draws
//
//	noise_std · (Own[i]·own_i + Σ_j ±Std_ij·shared_ij)
//
// where own_i is a row of independent standard normal numbers that only i knows, and shared_ij one that i and j know:
// the node with the smaller index adds it, the other one subtracts it. C⁻¹ runs over the steps of these sums. Without
// noise_std and C⁻¹ the covariance of the nodes is M = diag(s) + Σ e_ij (d_i - d_j)(d_i - d_j)ᵀ, s_i = Own[i]² and
// e_ij = Std_ij².
type SharedNoise struct {
	Labels []string     // of the nodes, by index
	Own    []float64    // standard deviations, zero or more
	Pairs  []SharedPair // in ascending order of (I, J), none twice
}

// SharedPair is a pair of nodes that may share noise.
type SharedPair struct {
	I, J int     // I < J
	Std  float64 // zero or more; a pair of 0 draws nothing
}

// PairVariance is e_ij of a pair: two different indices, in any order.
type PairVariance struct {
	I, J     int
	Variance float64
}

// NewSharedNoise returns the noise of nodes with these labels, own variances s and pair variances e. Every standard
// deviation is the smallest float64 whose exact square is not below the variance, so that M can only grow, and with
// it what M hides from every coalition (see OwnVariance and Variance for what became of them). The errors are slices
// of different lengths, numbers that are no variances, labels that are not UTF-8 or there twice, and pairs that are
// none or there twice.
func NewSharedNoise(labels []string, own []float64, pairs []PairVariance) (*SharedNoise, error) {
	if len(own) != len(labels) {
		return nil, fmt.Errorf("%d own variances for %d nodes", len(own), len(labels))
	}
	n := &SharedNoise{Labels: slices.Clone(labels), Own: make([]float64, len(own))}
	for i, v := range own {
		std, err := deviation(v)
		if err != nil {
			return nil, fmt.Errorf("node %q: %w", labels[i], err)
		}
		n.Own[i] = std
	}
	for _, p := range pairs {
		std, err := deviation(p.Variance)
		if err != nil {
			return nil, fmt.Errorf("pair of nodes %d and %d: %w", p.I, p.J, err)
		}
		n.Pairs = append(n.Pairs, SharedPair{min(p.I, p.J), max(p.I, p.J), std})
	}
	return n, n.check()
}

// deviation returns the smallest number whose exact square is not below v.
func deviation(v float64) (float64, error) {
	if !(v >= 0 && v <= 1e280) || v > 0 && v < 1e-280 {
		return 0, fmt.Errorf("a variance of %v: must be 0, or between 1e-280 and 1e280", v)
	}
	std := math.Sqrt(v)
	for math.FMA(std, std, -v) < 0 {
		std = math.Nextafter(std, math.Inf(1))
	}
	return std, nil
}

// squareBelow returns the largest float64 that is not above the exact square.
func squareBelow(std float64) float64 {
	v := std * std
	if math.FMA(std, std, -v) < 0 {
		v = math.Nextafter(v, 0)
	}
	return v
}

// OwnVariance returns s_i, rounded down.
func (n *SharedNoise) OwnVariance(i int) float64 { return squareBelow(n.Own[i]) }

// Variance returns e_ij, rounded down.
func (p SharedPair) Variance() float64 { return squareBelow(p.Std) }

// check puts the pairs in order, and refuses what is no noise of pairs.
func (n *SharedNoise) check() error {
	index := map[string]int{}
	for i, l := range n.Labels {
		if !utf8.ValidString(l) {
			return fmt.Errorf("the label %q is not UTF-8, which keys and runs need", l)
		}
		if _, twice := index[l]; twice {
			return fmt.Errorf("the label %q is there twice", l)
		}
		index[l] = i
	}
	slices.SortStableFunc(n.Pairs, func(a, b SharedPair) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	noisy := make([]bool, len(n.Labels))
	for k, p := range n.Pairs {
		switch {
		case p.I < 0 || p.J >= len(n.Labels):
			return fmt.Errorf("a pair of nodes %d and %d, of %d nodes", p.I, p.J, len(n.Labels))
		case p.I == p.J:
			return fmt.Errorf("node %q cannot share a secret with itself", n.Labels[p.I])
		case k > 0 && n.Pairs[k-1].I == p.I && n.Pairs[k-1].J == p.J:
			return fmt.Errorf("the pair %q, %q is there twice", n.Labels[p.I], n.Labels[p.J])
		}
		noisy[p.I], noisy[p.J] = noisy[p.I] || p.Std > 0, noisy[p.J] || p.Std > 0
	}
	for i, std := range n.Own {
		if std == 0 && !noisy[i] {
			return fmt.Errorf("node %q has no noise at all", n.Labels[i])
		}
	}
	return nil
}

// Neighbour is a node that another one shares noise with.
type Neighbour struct {
	Index  int
	Label  string
	Weight float64 // ±Std: positive for the node of the smaller index
}

// Neighbours returns the nodes that node i shares noise with, those of a standard deviation above 0, in ascending
// order of their indices.
func (n *SharedNoise) Neighbours(i int) []Neighbour {
	var all []Neighbour
	for _, p := range n.Pairs {
		switch {
		case p.Std == 0:
		case p.I == i:
			all = append(all, Neighbour{p.J, n.Labels[p.J], p.Std})
		case p.J == i:
			all = append(all, Neighbour{p.I, n.Labels[p.I], -p.Std})
		}
	}
	slices.SortFunc(all, func(a, b Neighbour) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// The files of noise that is shared.
const (
	nodesName = "nodes.csv"
	pairsName = "pairs.csv"
)

// Files returns nodes.csv, of the graph whose labels these are, with a column own_std, and pairs.csv: two labels and a
// standard deviation a line, the smaller index first.
func (n *SharedNoise) Files(g *graph.Graph) ([]File, error) {
	if !slices.Equal(g.Labels(), n.Labels) {
		return nil, fmt.Errorf("noise for %d nodes, and a graph of others", len(n.Labels))
	}
	pairs := [][]string{pairsHeader()}
	for _, p := range n.Pairs {
		pairs = append(pairs, []string{n.Labels[p.I], n.Labels[p.J], number(p.Std)})
	}
	return []File{n.Nodes(g), lines(pairsName, pairs)}, nil
}

// Nodes returns nodes.csv alone, of a graph with as many nodes.
func (n *SharedNoise) Nodes(g *graph.Graph) File {
	nodes := [][]string{nodesHeader()}
	for i, std := range n.Own {
		nodes = append(nodes, []string{strconv.Itoa(i), g.Label(i), strconv.Itoa(g.Degree(i)), number(std)})
	}
	return lines(nodesName, nodes)
}

func nodesHeader() []string { return []string{"index", "label", "degree", "own_std"} }
func pairsHeader() []string { return []string{"label", "label", "std"} }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func lines(name string, all [][]string) File {
	return File{name, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(all) }}
}

// readShared reads the two files, strictly: what is refused is named with its line.
func (e *Export) readShared() (*SharedNoise, error) {
	n := &SharedNoise{}
	err := e.eachLine(nodesName, nodesHeader(), func(f []string) error {
		i := len(n.Labels)
		if degree, err := strconv.Atoi(f[2]); f[0] != strconv.Itoa(i) || err != nil || degree < 0 {
			return fmt.Errorf("it is none of node %d", i)
		}
		std, err := parseDeviation(f[3])
		n.Labels, n.Own = append(n.Labels, f[1]), append(n.Own, std)
		return err
	})
	if err != nil {
		return nil, err
	}
	if nodes := e.Manifest.Graph.Nodes; len(n.Labels) != nodes {
		return nil, fmt.Errorf("%s: %s has %d nodes, the manifest %d", e.Dir, nodesName, len(n.Labels), nodes)
	}
	index := map[string]int{}
	for i, l := range n.Labels {
		index[l] = i
	}
	err = e.eachLine(pairsName, pairsHeader(), func(f []string) error {
		i, known := index[f[0]]
		j, known2 := index[f[1]]
		if !known || !known2 {
			return fmt.Errorf("%s has no pair of nodes %q and %q", nodesName, f[0], f[1])
		}
		std, err := parseDeviation(f[2])
		n.Pairs = append(n.Pairs, SharedPair{min(i, j), max(i, j), std})
		return err
	})
	if err == nil {
		err = n.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	return n, nil
}

// eachLine reads a file of this header.
func (e *Export) eachLine(name string, header []string, each func(fields []string) error) error {
	text, err := e.Read(name)
	if err != nil {
		return err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.ReuseRecord = len(header), true
	for first := true; ; first = false {
		fields, err := r.Read()
		if err == io.EOF && !first {
			return nil
		}
		line, _ := r.FieldPos(0)
		switch {
		case err == io.EOF || err == nil && first && !slices.Equal(fields, header):
			return fmt.Errorf("%s: %s does not begin with %v", e.Dir, name, header)
		case err == nil && !first:
			err = each(fields)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: line %d: %w", e.Dir, name, line, err)
		}
	}
}

func parseDeviation(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1e140) || v > 0 && v < 1e-140 || number(v) != text {
		return 0, fmt.Errorf("%.40q is no standard deviation: 0, or between 1e-140 and 1e140, as short as it can be", text)
	}
	return v, nil
}
