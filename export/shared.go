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
	"strings"
	"unicode/utf8"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
)

// SharedNoise is the noise of nodes that share secrets in pairs (package secrets), with their labels. In every step
// node i draws
//
//	noise_std · (Own[i]·own_i + Σ_j ±Deviation_ij·shared_ij)
//
// where own_i is a row of independent standard normal numbers that only i knows, and shared_ij one that i and j know:
// the node with the smaller index adds it, the other one subtracts it. C⁻¹ runs over the steps of these sums.
type SharedNoise struct {
	Labels []string // of the nodes, by index
	*secrets.Noise
}

// NewSharedNoise returns the noise of nodes with these labels: the standard deviations are exported as they are. It
// fails as Noise.Check does, if labels and nodes differ in number, for a repeated label or one that the files cannot
// hold, and for a node without any noise.
func NewSharedNoise(labels []string, n *secrets.Noise) (*SharedNoise, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	if len(n.Own) != len(labels) {
		return nil, fmt.Errorf("noise of %d nodes for %d labels", len(n.Own), len(labels))
	}
	there := map[string]bool{}
	for _, l := range labels {
		if there[l] || !utf8.ValidString(l) || strings.ContainsRune(l, '\r') {
			return nil, fmt.Errorf("the label %q is there twice, not UTF-8, or has a carriage return, which CSV would lose", l)
		}
		there[l] = true
	}
	noisy := make([]bool, len(labels))
	for i, d := range n.Own {
		noisy[i] = d > 0
	}
	for _, p := range n.Pairs {
		noisy[p.U], noisy[p.V] = noisy[p.U] || p.Deviation > 0, noisy[p.V] || p.Deviation > 0
	}
	if i := slices.Index(noisy, false); i >= 0 {
		return nil, fmt.Errorf("node %q has no noise at all", labels[i])
	}
	return &SharedNoise{slices.Clone(labels), n}, nil
}

// Graph returns who shares secrets: all pairs, also the pairs of variance zero. It fails as secrets.NewGraph does.
func (n *SharedNoise) Graph() (*secrets.Graph, error) {
	return secrets.NewGraph(len(n.Labels), lists.Map(n.Pairs, func(p secrets.Shared) secrets.Pair { return p.Pair }))
}

// Neighbour is a node that another one shares noise with.
type Neighbour struct {
	Index  int
	Label  string
	Weight float64 // ±Deviation: positive at the node of the smaller index
}

// Neighbours returns the nodes that node i shares noise with, of a deviation above 0, in ascending order of their
// indices.
func (n *SharedNoise) Neighbours(i int) []Neighbour {
	var all []Neighbour
	for _, p := range n.Pairs {
		switch {
		case p.Deviation == 0:
		case p.U == i:
			all = append(all, Neighbour{p.V, n.Labels[p.V], p.Deviation})
		case p.V == i:
			all = append(all, Neighbour{p.U, n.Labels[p.U], -p.Deviation})
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
		pairs = append(pairs, []string{n.Labels[p.U], n.Labels[p.V], number(p.Deviation)})
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
	n, index := &secrets.Noise{}, map[string]int{}
	var labels []string
	err := e.eachNode(func(f []string) error {
		i := len(labels)
		if degree, err := strconv.Atoi(f[2]); f[0] != strconv.Itoa(i) || err != nil || degree < 0 {
			return fmt.Errorf("it is none of node %d", i)
		}
		d, err := parseDeviation(f[3])
		labels, n.Own, index[f[1]] = append(labels, f[1]), append(n.Own, d), i
		return err
	})
	if err != nil {
		return nil, err
	}
	if nodes := e.Manifest.Graph.Nodes; len(labels) != nodes {
		return nil, fmt.Errorf("%s: %s has %d nodes, the manifest %d", e.Dir, nodesName, len(labels), nodes)
	}
	there := map[secrets.Pair]bool{}
	err = e.eachLine(pairsName, pairsHeader(), func(f []string) error {
		u, known := index[f[0]]
		v, known2 := index[f[1]]
		p := secrets.Pair{U: min(u, v), V: max(u, v)}
		switch {
		case !known || !known2:
			return fmt.Errorf("%s has not both %q and %q", nodesName, f[0], f[1])
		case u == v:
			return fmt.Errorf("%q shares a secret with itself", f[0])
		case there[p]:
			return fmt.Errorf("the pair %q and %q is there twice", f[0], f[1])
		}
		there[p] = true
		d, err := parseDeviation(f[2])
		n.Pairs = append(n.Pairs, secrets.Shared{Pair: p, Deviation: d})
		return err
	})
	if err != nil {
		return nil, err
	}
	sortPairs(n.Pairs)
	shared, err := NewSharedNoise(labels, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	return shared, nil
}

func sortPairs(pairs []secrets.Shared) {
	slices.SortFunc(pairs, func(a, b secrets.Shared) int { return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V)) })
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
		switch {
		case err == io.EOF && !first:
			return nil
		case first && (err != nil || !slices.Equal(fields, header)):
			return fmt.Errorf("%s: %s does not begin with %q", e.Dir, name, strings.Join(header, ","))
		case err != nil:
			return fmt.Errorf("%s: %s: %w", e.Dir, name, err)
		case first:
			continue
		}
		if err := each(fields); err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: %s: line %d: %w", e.Dir, name, line, err)
		}
	}
}

func parseDeviation(text string) (float64, error) {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || !(d >= 0) || math.IsInf(d, 1) || number(d) != text {
		return 0, fmt.Errorf("%.40q is no standard deviation, or not written as short as it can be", text)
	}
	return d, nil
}
