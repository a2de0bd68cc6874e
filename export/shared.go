package export

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
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
	Labels []string // labels of the nodes, by index
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
	nodes, err := e.nodes()
	if err != nil {
		return nil, err
	}
	labels, n := make([]string, len(nodes)), &secrets.Noise{Own: make([]float64, len(nodes))}
	for label, node := range nodes {
		labels[node.index], n.Own[node.index] = label, node.own
	}
	there := map[secrets.Pair]bool{}
	err = e.eachLine(pairsName, pairsHeader(), func(f []string) error {
		u, known := nodes[f[0]]
		v, known2 := nodes[f[1]]
		p := secrets.Pair{U: min(u.index, v.index), V: max(u.index, v.index)}
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

// TrustSecLDP is Manifest.Trust of noise that nodes share in pairs: every node sees all messages and knows its own
// secrets and those that it shares, and coalitions of nodes as Space says put theirs together.
const TrustSecLDP = "secldp"

// Space says of noise that is shared who shares it, against whom it protects, and how good it is. The standard
// deviations are in nodes.csv and pairs.csv (SharedNoise).
type Space struct {
	Secrets    Secrets    `json:"secrets" verify:"block; network"`
	Coalitions Coalitions `json:"coalitions" verify:"given in space"`
	// LargestPair bounds the variances of pairs, of this noise and of all that it is compared with.
	LargestPair float64 `json:"largest_pair" verify:"judged in secrets; network" in:"(0,)"`
	// Worst is where most is seen: [M_A⁻¹]_vv, at most 1, of the standard deviations as exported, rounded up.
	Worst Worst `json:"worst" verify:"judged in space"`
	// GapSpace is how far M is above the best one for this strategy, at most, relatively; GapTime how far the strategy is
	// above the best one for this M.
	GapSpace float64 `json:"gap_space" verify:"judged in space gap; network" in:"[0,)"`
	GapTime  float64 `json:"gap_time" verify:"judged in time gap; network" in:"[0,)"`

	// Own and Pairs are the variances, by labels. WriteDir leaves them out of a folder's manifest: the folder has them in
	// two files of their own.
	Own   map[string]float64 `json:"own,omitempty" verify:"judged in space"`
	Pairs []LabelledPair     `json:"pairs,omitempty" verify:"judged in space"`
}

// Secrets says which pairs of nodes share a secret.
type Secrets struct {
	Source string `json:"source" verify:"judged in secrets"`           // SecretsGossip, SecretsAll, or the name of a file of edges
	SHA256 string `json:"sha256,omitempty" verify:"unchecked"`         // SHA-256 of that file; absent for the other sources
	Pairs  int    `json:"pairs" verify:"exactly in secrets" in:"[0,)"` // number of pairs
}

// What Secrets.Source is where there is no file.
const (
	SecretsGossip = "gossip" // the edges of the graph
	SecretsAll    = "all"    // all pairs of nodes
)

// Coalitions says which nodes may put together what they know. The eavesdropper, who has no secret, is always there.
type Coalitions struct {
	Size   int        `json:"size,omitempty" in:"[1,2]"` // every set of at most 1 or 2 nodes; absent if there is a list
	Source string     `json:"source,omitempty"`          // the file of the list
	Sets   [][]string `json:"sets,omitempty"`            // coalitions of the list, by labels
}

// Worst is a coalition and the node of which it learns most.
type Worst struct {
	Attacker []string `json:"attacker"` // empty, but not nil: the eavesdropper
	Victim   string   `json:"victim"`
	Value    float64  `json:"value" in:"(0,)"`
}

// LabelledPair is the variance of a pair; in JSON [label, label, variance].
type LabelledPair struct {
	A, B     string
	Variance float64
}

// MarshalJSON writes the array [A, B, Variance].
func (p LabelledPair) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.A, p.B, p.Variance}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *LabelledPair) UnmarshalJSON(text []byte) error {
	into := []any{&p.A, &p.B, &p.Variance}
	if err := json.Unmarshal(text, &into); err != nil {
		return err
	}
	if len(into) != 3 {
		return fmt.Errorf("a pair of %d entries", len(into))
	}
	return nil
}

// Labelled returns the variances by labels, as Space prints them.
func (n *SharedNoise) Labelled() (own map[string]float64, pairs []LabelledPair) {
	own = map[string]float64{}
	for i, d := range n.Own {
		own[n.Labels[i]] = d * d
	}
	for _, p := range n.Pairs {
		pairs = append(pairs, LabelledPair{n.Labels[p.U], n.Labels[p.V], p.Deviation * p.Deviation})
	}
	return own, pairs
}

// checkSpace refuses manifests that speak of shared noise in one place and not in another.
func (m *Manifest) checkSpace() error {
	switch {
	case (m.Trust == "") != (m.Space == nil):
		return errors.New("one of trust and space is there, which belong together")
	case m.Space == nil && (m.LDPLoss != 0 || m.JointLowerBound != 0):
		return errors.New("ldp_loss or joint_lower_bound is there without space")
	case m.Space == nil:
		return nil
	case m.Graph == nil || m.PerNode != nil:
		return errors.New("space needs a graph whose nodes have one strategy")
	case m.LowerBound != 0 || m.Gap != 0 || m.LDPLoss == 0 || m.JointLowerBound == 0:
		return errors.New("space has ldp_loss and joint_lower_bound, not lower_bound and gap")
	case m.Files[nodesName] == "" || m.Files[pairsName] == "":
		return fmt.Errorf("space needs the files %s and %s", nodesName, pairsName)
	}
	return m.Space.checkRange()
}

func (s *Space) checkRange() error {
	c := s.Coalitions
	switch {
	case s.Own != nil || s.Pairs != nil:
		return fmt.Errorf("space.own and space.pairs are in %s and %s", nodesName, pairsName)
	case s.Secrets.Source == "":
		return errors.New("space.secrets has no source")
	case (c.Size == 0) == (len(c.Sets) == 0) || c.Size > 0 && c.Source != "":
		return errors.New("space.coalitions has neither a size of 1 or 2 nor sets, or both")
	case s.Worst.Attacker == nil || slices.Contains(s.Worst.Attacker, s.Worst.Victim):
		return errors.New("space.worst has no attacker, or a victim among them")
	}
	return nil
}

// Attackers returns the coalitions for nodes with these labels. It fails for a label that is not among them, and as
// secrets.NewAttackers does.
func (c Coalitions) Attackers(labels []string) (*secrets.Attackers, error) {
	if c.Size > 0 {
		return secrets.Colluding(len(labels), c.Size)
	}
	sets := make([][]int, len(c.Sets))
	for i, set := range c.Sets {
		for _, l := range set {
			at := slices.Index(labels, l)
			if at < 0 {
				return nil, fmt.Errorf("a coalition with %q, which is no node", l)
			}
			sets[i] = append(sets[i], at)
		}
	}
	return secrets.NewAttackers(len(labels), sets)
}

// checkLabels refuses coalitions, and a worst case, of nodes that are not there.
func (s *Space) checkLabels(n *SharedNoise) error {
	if s.Coalitions.Size == 0 {
		if _, err := s.Coalitions.Attackers(n.Labels); err != nil {
			return fmt.Errorf("space.coalitions: %w", err)
		}
	}
	for _, l := range append(slices.Clone(s.Worst.Attacker), s.Worst.Victim) {
		if !slices.Contains(n.Labels, l) {
			return fmt.Errorf("space.worst: %q is no node", l)
		}
	}
	return nil
}
