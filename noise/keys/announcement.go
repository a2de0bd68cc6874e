package keys

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/internal/strictjson"
)

// ErrRun is wrapped by errors about announcements that are missing, damaged, or of another run.
var ErrRun = errors.New("run cannot begin")

// Terms are what the ends of a pair must have alike.
type Terms struct {
	Export   string  `json:"export"`    // SHA-256 of its manifest
	Dim      int     `json:"dim"`       // numbers of a row
	NoiseStd float64 `json:"noise_std"` // standard deviation of a coordinate of Z
	Grid     float64 `json:"grid,omitempty"`
	// Check is a run that protects nothing: its rows are the shared ones alone, to compare the two ends.
	Check bool `json:"check,omitempty"`
}

// Announcement is what a node tells its neighbours before a run. It is no secret.
type Announcement struct {
	Format string `json:"format"`
	Node   string `json:"node"`
	Key    string `json:"key"`   // public key of the node
	Nonce  string `json:"nonce"` // fresh
	Terms
	Tags []Tag `json:"tags"` // tags in ascending order of their labels
}

// Tag shows one neighbour that the announcement is the node's.
type Tag struct {
	Node string `json:"node"`
	Tag  string `json:"tag"`
}

const (
	runFormat = "mafalda run 1"
	// RunExtension ends the names of files with announcements.
	RunExtension = ".run"
)

// Announce makes an announcement with a fresh nonce for these neighbours, of which it needs the public keys; the own
// one must be among them, too.
func (p Private) Announce(neighbours []string, d Directory, t Terms) (Announcement, error) {
	if err := cmp.Or(p.checkListed(d), d.checkComplete(neighbours)); err != nil {
		return Announcement{}, err
	}
	nonce := make([]byte, size)
	rand.Read(nonce) // it never fails
	public := p.Public()
	a := Announcement{Format: runFormat, Node: p.node, Key: hex.EncodeToString(public.Key[:]),
		Nonce: hex.EncodeToString(nonce), Terms: t, Tags: []Tag{}}
	for _, to := range slices.Sorted(slices.Values(neighbours)) {
		tag, err := p.tag(p.Public(), d[to], a.body())
		if err != nil {
			return a, err
		}
		a.Tags = append(a.Tags, Tag{to, hex.EncodeToString(tag)})
	}
	return a, a.check()
}

// checkListed refuses a directory that has another key for this node, or none: then neighbours would have that, too.
func (p Private) checkListed(d Directory) error {
	listed, there := d[p.node]
	switch {
	case !there:
		return fmt.Errorf("%w: there is no public key of node %q itself", ErrKey, p.node)
	case listed != p.Public():
		return fmt.Errorf("%w: the public key of node %q is %s, that of its private one %s", ErrKey, p.node,
			listed.Fingerprint(), p.Public().Fingerprint())
	}
	return nil
}

// checkComplete names nodes that have no key.
func (d Directory) checkComplete(nodes []string) error {
	var none []string
	for _, n := range nodes {
		if _, there := d[n]; !there {
			none = append(none, n)
		}
	}
	if len(none) == 0 {
		return nil
	}
	return fmt.Errorf("%w: there is no public key of %s", ErrKey, names(none))
}

// names lists labels, not too many.
func names(all []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, l := range all[:min(len(all), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", l))
	}
	text := strings.Join(quoted, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tag authenticates what one node says to another: HMAC-SHA256 with a key of the two, for this direction.
func (p Private) tag(from, to Public, body []byte) ([]byte, error) {
	other := to
	if to.Node == p.node {
		other = from
	}
	point, err := p.point(other)
	if err != nil {
		return nil, err
	}
	key, err := derive(point, nil, []byte("mafalda announcement 1"), []byte(from.Node), []byte(to.Node), from.Key[:],
		to.Key[:])
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil), nil
}

// body is what is authenticated, and what the key of a pair depends on: everything but the tags. The texts were
// checked.
func (a Announcement) body() []byte {
	unhex := func(text string) []byte { b, _ := hex.DecodeString(text); return b }
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	check := uint64(0)
	if a.Check {
		check = 1
	}
	return fields([]byte(runFormat), []byte(a.Node), unhex(a.Key), unhex(a.Nonce), unhex(a.Export), word(uint64(a.Dim)),
		word(math.Float64bits(a.NoiseStd)), word(math.Float64bits(a.Grid)), word(check))
}

func (a Announcement) check() error {
	for _, text := range []string{a.Key, a.Nonce, a.Export} {
		if _, err := parseHex(text); err != nil {
			return fmt.Errorf("%w: %w", ErrRun, err)
		}
	}
	if err := checkLabel(a.Node); err != nil {
		return err
	}
	switch {
	case a.Format != runFormat:
		return fmt.Errorf("%w: format %.40q, not %q", ErrRun, a.Format, runFormat)
	case a.Dim < 1 || !(a.NoiseStd > 0) || !(a.Grid >= 0) || math.Signbit(a.Grid) || math.IsInf(a.NoiseStd, 1) || math.IsInf(a.Grid, 1):
		return fmt.Errorf("%w: dim, noise_std or grid is out of range", ErrRun)
	}
	for i, t := range a.Tags {
		if _, err := parseHex(t.Tag); err != nil || i > 0 && a.Tags[i-1].Node >= t.Node || t.Node == a.Node {
			return fmt.Errorf("%w: its tags are damaged", ErrRun)
		}
	}
	return nil
}

// To says for whom it is.
func (a Announcement) To() string {
	to := lists.Map(a.Tags, func(t Tag) string { return t.Node })
	if len(to) == 0 {
		return "nobody: the node shares no noise"
	}
	return names(to)
}

// tagFor returns the tag for a node, nil without one.
func (a Announcement) tagFor(node string) []byte {
	i, there := slices.BinarySearchFunc(a.Tags, node, func(t Tag, node string) int { return cmp.Compare(t.Node, node) })
	if !there {
		return nil
	}
	tag, _ := hex.DecodeString(a.Tags[i].Tag)
	return tag
}

// WriteFile writes the announcement. It fails as files.WriteFile does.
func (a Announcement) WriteFile(path string, force bool) error {
	return files.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(a)
	}, force)
}

// parseRun reads an announcement, strictly.
func parseRun(text []byte) (a Announcement, err error) {
	if err := strictjson.Decode(text, &a); err != nil {
		return a, fmt.Errorf("%w: %w", ErrRun, err)
	}
	return a, a.check()
}

// ReadRuns reads all announcements in a folder, the files whose names end with RunExtension, by the labels of their
// nodes. Two of one node are ErrRun: who has told which one would be a guess.
func ReadRuns(folder string) (map[string]Announcement, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	all, from := map[string]Announcement{}, map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != RunExtension {
			continue
		}
		path := filepath.Join(folder, e.Name())
		text, err := files.Read(path, largestFile)
		if err != nil {
			return nil, err
		}
		a, err := parseRun(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if other, twice := from[a.Node]; twice {
			return nil, fmt.Errorf("%w: %s and %s are both of %q: keep the one that its neighbours have", ErrRun, other,
				path, a.Node)
		}
		all[a.Node], from[a.Node] = a, path
	}
	return all, nil
}
