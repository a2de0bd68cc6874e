package keys

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/lists"
)

// Public is the public key of a node.
type Public struct {
	Node string
	Key  [size]byte
}

// Fingerprint is for people to compare: 32 hexadecimal digits in groups of four, the start of a hash of label and key.
func (p Public) Fingerprint() string {
	sum := sha256.Sum256(fields([]byte("mafalda fingerprint 1"), []byte(p.Node), p.Key[:]))
	digits := hex.EncodeToString(sum[:16])
	var groups []string
	for ; digits != ""; digits = digits[4:] {
		groups = append(groups, digits[:4])
	}
	return strings.Join(groups, "-")
}

// Line is the line of a Directory for this key, with its end: "label",key,fingerprint.
func (p Public) Line() string {
	return fmt.Sprintf("\"%s\",%s,%s\n", strings.ReplaceAll(p.Node, `"`, `""`), hex.EncodeToString(p.Key[:]),
		p.Fingerprint())
}

// Directory is the public keys of nodes, by their labels.
type Directory map[string]Public

// ReadDirectory reads a file with a line a node, as Public.Line writes them: CSV with label, key and fingerprint, where
// # starts a line of comment (a label that begins with # has quotation marks around it). A label or a key that is
// there twice, and a fingerprint of another key or label, are ErrKey.
func ReadDirectory(path string) (Directory, error) {
	text, err := files.Read(path, largestFile)
	if err != nil {
		return nil, err
	}
	d, lines := Directory{}, map[[size]byte]int{}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', 3
	for {
		f, err := r.Read()
		if err == io.EOF {
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, ErrKey, err)
		}
		line, _ := r.FieldPos(0)
		p, err := parsePublic(f)
		if err == nil && d[p.Node].Node == p.Node {
			err = fmt.Errorf("the node %q is there twice", p.Node)
		}
		if err == nil && lines[p.Key] > 0 {
			err = fmt.Errorf("it has the same key as line %d", lines[p.Key])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %w", path, line, ErrKey, err)
		}
		d[p.Node], lines[p.Key] = p, line
	}
}

// Read returns the public keys of a Directory, or of the file of a private one, in ascending order of their labels.
func Read(path string) ([]Public, error) {
	text, err := files.Read(path, largestFile)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte("{")) {
		own, err := Load(path)
		if err != nil {
			return nil, err
		}
		return []Public{own.Public()}, nil
	}
	d, err := ReadDirectory(path)
	return lists.Map(slices.Sorted(maps.Keys(d)), func(node string) Public { return d[node] }), err
}

func parsePublic(f []string) (p Public, err error) {
	if err := checkLabel(f[0]); err != nil {
		return p, err
	}
	key, err := parseHex(f[1])
	if err != nil {
		return p, err
	}
	p = Public{f[0], [size]byte(key)}
	if f[2] != p.Fingerprint() {
		return p, fmt.Errorf("the fingerprint of this label and key is %s, not %.40q", p.Fingerprint(), f[2])
	}
	return p, nil
}
