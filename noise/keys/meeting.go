package keys

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Pair is what a node and a neighbour have in common in one run.
type Pair struct {
	Neighbour string
	Run       string             // the run's identifier, of these two, in hexadecimal; no secret
	Secret    func() *[size]byte // the key of the rows they share
}

// Meeting is a node with the announcements of all its neighbours.
type Meeting struct {
	Pairs  []Pair // pairs in ascending order of labels
	Check  bool   // Terms.Check, as announced
	node   string
	ledger string
	bodies [][]byte // the own one first
}

// Meet compares what a node and its neighbours have announced under the node's terms, and derives their keys. All
// neighbours must be there; in a checked run they are the neighbours named in the node's own announcement, which also
// says whether the run is checked. It fails with ErrKey, ErrRun or ErrUsed.
func (p Private) Meet(neighbours []string, d Directory, runs map[string]Announcement, t Terms) (*Meeting, error) {
	if err := p.checkListed(d); err != nil {
		return nil, err
	}
	own, there := runs[p.node]
	public := p.Public()
	switch {
	case p.path == "":
		return nil, fmt.Errorf("%w: it is in no file, beside which its runs are noted", ErrKey)
	case !there:
		return nil, fmt.Errorf("%w: there is no announcement of node %q itself", ErrRun, p.node)
	case own.Key != hex.EncodeToString(public.Key[:]):
		return nil, fmt.Errorf("%w: node %q has announced another key than its own", ErrRun, p.node)
	}
	t.Check = own.Check
	neighbours = slices.Sorted(slices.Values(neighbours))
	if own.Check {
		neighbours = slices.DeleteFunc(neighbours, func(n string) bool { return own.tagFor(n) == nil })
	}
	if err := d.checkComplete(neighbours); err != nil {
		return nil, err
	}
	if err := t.compare(own.Terms); err != nil {
		return nil, fmt.Errorf("%w: node %q has announced %w", ErrRun, p.node, err)
	}
	if len(own.Tags) != len(neighbours) {
		return nil, fmt.Errorf("%w: the announcement of node %q is for %d neighbours, not %d", ErrRun, p.node,
			len(own.Tags), len(neighbours))
	}
	ledger := ledgerOf(p.path)
	if err := checkUnused(ledger, own.body(), p.node); err != nil {
		return nil, err
	}
	m := &Meeting{Check: own.Check, node: p.node, ledger: ledger, bodies: [][]byte{own.body()}}
	for _, n := range neighbours {
		pair, err := p.meet(d[n], own, runs)
		if err != nil {
			return nil, err
		}
		body := runs[n].body()
		if err := checkUnused(ledger, body, n); err != nil {
			return nil, err
		}
		m.Pairs, m.bodies = append(m.Pairs, pair), append(m.bodies, body)
	}
	return m, nil
}

// meet derives the key with one neighbour.
func (p Private) meet(other Public, own Announcement, runs map[string]Announcement) (Pair, error) {
	theirs, there := runs[other.Node]
	if !there {
		return Pair{}, fmt.Errorf("%w: there is no announcement of the neighbour %q", ErrRun, other.Node)
	}
	if theirs.Key != hex.EncodeToString(other.Key[:]) {
		return Pair{}, fmt.Errorf("%w: node %q announces another key than its public one, %s", ErrKey, other.Node,
			other.Fingerprint())
	}
	if err := own.compare(theirs.Terms); err != nil {
		return Pair{}, fmt.Errorf("%w: node %q has announced %w", ErrRun, other.Node, err)
	}
	if err := p.authentic(p.Public(), other, own); err != nil {
		return Pair{}, err
	}
	if err := p.authentic(other, p.Public(), theirs); err != nil {
		return Pair{}, err
	}
	return p.pair(other, own, theirs)
}

// authentic refuses an announcement of one node to another without a tag that one of them has made for it.
func (p Private) authentic(from, to Public, a Announcement) error {
	tag := a.tagFor(to.Node)
	if tag == nil {
		return fmt.Errorf("%w: the announcement of %q is not for its neighbour %q", ErrRun, from.Node, to.Node)
	}
	want, err := p.tag(from, to, a.body())
	if err != nil {
		return err
	}
	if !hmac.Equal(tag, want) {
		return fmt.Errorf("%w: the announcement of %q is forged, or %[2]q has another public key of %[3]q, or private one "+
			"of its own", ErrRun, from.Node, to.Node)
	}
	return nil
}

// pair derives run and key from both announcements, the smaller label's first.
func (p Private) pair(other Public, own, theirs Announcement) (Pair, error) {
	first, second := own, theirs
	firstKey, secondKey := p.Public().Key, other.Key
	if theirs.Node < own.Node {
		first, second, firstKey, secondKey = second, first, secondKey, firstKey
	}
	run := sha256.Sum256(fields([]byte("mafalda pair run 1"), first.body(), second.body()))
	point, err := p.point(other)
	if err != nil {
		return Pair{}, err
	}
	export, err := hex.DecodeString(own.Export)
	if err != nil {
		return Pair{}, err
	}
	key, err := derive(point, run[:], []byte("mafalda pair 1"), export, []byte(first.Node), []byte(second.Node),
		firstKey[:], secondKey[:], run[:])
	if err != nil {
		return Pair{}, err
	}
	secret := (*[size]byte)(bytes.Clone(key))
	return Pair{other.Node, hex.EncodeToString(run[:]), func() *[size]byte { return secret }}, nil
}

// compare names the first thing in which other terms differ.
func (t Terms) compare(other Terms) error {
	run := map[bool]string{false: "a run", true: "a check"}
	for _, of := range []struct {
		format      string
		theirs, own any
	}{{"another export (%.16s…, not %.16s…)", other.Export, t.Export}, {"rows of %d numbers, not %d", other.Dim, t.Dim},
		{"a noise level of %v, not %v", other.NoiseStd, t.NoiseStd}, {"a grid of %v, not %v", other.Grid, t.Grid},
		{"%s, not %s", run[other.Check], run[t.Check]}} {
		if of.theirs != of.own {
			return fmt.Errorf(of.format, of.theirs, of.own)
		}
	}
	return nil
}

// Begin notes on disk that the announcements are used. It comes before the first row, and before anything that could
// make one. After an error other than ErrUsed they may be used up: announce again.
func (m *Meeting) Begin() error { return markUsed(m.ledger, m.node, m.bodies) }
