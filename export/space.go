package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mafalda/secrets"
)

// TrustSecLDP is Manifest.Trust of noise that nodes share in pairs: every node sees all messages and knows its own
// secrets and those that it shares, and coalitions of nodes as Space says put theirs together.
const TrustSecLDP = "secldp"

// Space says of noise that is shared who shares it, against whom it protects, and how good it is. The standard
// deviations are in nodes.csv and pairs.csv (SharedNoise).
type Space struct {
	Secrets    Secrets    `json:"secrets"`
	Coalitions Coalitions `json:"coalitions"`
	// LargestPair bounds the variances of pairs, of this noise and of all that it is compared with.
	LargestPair float64 `json:"largest_pair"`
	// Worst is where most is seen: [M_A⁻¹]_vv, at most 1, of the standard deviations as exported, rounded up.
	Worst Worst `json:"worst"`
	// GapSpace is how far M is above the best one for this strategy, at most, relatively; GapTime how far the strategy is
	// above the best one for this M.
	GapSpace float64 `json:"gap_space"`
	GapTime  float64 `json:"gap_time"`

	// Own and Pairs are the variances, by labels. They are printed, and not in the manifest of a folder, which has the
	// two files: WriteDir leaves them out.
	Own   map[string]float64 `json:"own,omitempty"`
	Pairs []LabelledPair     `json:"pairs,omitempty"`
}

// Secrets says which pairs of nodes share a secret.
type Secrets struct {
	Source string `json:"source"`           // SecretsGossip, SecretsAll, or the name of a file of edges
	SHA256 string `json:"sha256,omitempty"` // of the file
	Pairs  int    `json:"pairs"`            // how many there are
}

// What Secrets.Source is where there is no file.
const (
	SecretsGossip = "gossip" // the edges of the graph
	SecretsAll    = "all"    // all pairs of nodes
)

// Coalitions says which nodes may put together what they know. The eavesdropper, who has no secret, is always there.
type Coalitions struct {
	Size   int        `json:"size,omitempty"`   // every set of at most so many nodes, 1 or 2; absent if there is a list
	Source string     `json:"source,omitempty"` // the file of the list
	Sets   [][]string `json:"sets,omitempty"`   // the list, by labels
}

// Worst is a coalition and the node of which it learns most.
type Worst struct {
	Attacker []string `json:"attacker"` // empty, but not nil: the eavesdropper
	Victim   string   `json:"victim"`
	Value    float64  `json:"value"`
}

// LabelledPair is the variance of a pair; in JSON [label, label, variance].
type LabelledPair struct {
	A, B     string
	Variance float64
}

// MarshalJSON writes an array of three.
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

// ErrShared is wrapped by the errors of those who cannot run, or judge, an export whose nodes share noise.
var ErrShared = errors.New("its nodes share noise in pairs")

// checkSpace refuses manifests that speak of shared noise in one place and not in another.
func (m *Manifest) checkSpace() error {
	switch {
	case m.Trust != "" && m.Trust != TrustSecLDP:
		return fmt.Errorf("trust %q: must be %s, or absent", m.Trust, TrustSecLDP)
	case (m.Trust == "") != (m.Space == nil):
		return errors.New("one of trust and space is there, which belong together")
	case m.LDPLoss < 0 || m.JointLowerBound < 0 || m.Space == nil && (m.LDPLoss != 0 || m.JointLowerBound != 0):
		return errors.New("ldp_loss or joint_lower_bound is negative, or there without space")
	case m.Space == nil:
		return nil
	case m.Graph == nil || m.PerNode != nil:
		return errors.New("space needs a graph whose nodes have one strategy")
	case m.LowerBound != 0 || m.Gap != 0 || !(m.LDPLoss > 0) || !(m.JointLowerBound > 0):
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
	case s.Secrets.Source == "" || s.Secrets.Pairs < 0:
		return errors.New("space.secrets has no source, or a negative number of pairs")
	case c.Size < 0 || c.Size > 2 || (c.Size == 0) == (len(c.Sets) == 0) || c.Size > 0 && c.Source != "":
		return errors.New("space.coalitions has neither a size of 1 or 2 nor sets, or both")
	case !(s.Worst.Value > 0) || s.Worst.Attacker == nil || slices.Contains(s.Worst.Attacker, s.Worst.Victim):
		return errors.New("space.worst has no value above 0, no attacker, or a victim among them")
	case !(s.LargestPair > 0):
		return errors.New("space.largest_pair is not positive")
	case !(s.GapSpace >= 0) || !(s.GapTime >= 0):
		return errors.New("space.gap_space or space.gap_time is negative")
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
