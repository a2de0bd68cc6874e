package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/files"
	"mafalda/strategy"
	"mafalda/study"
)

// Export is an export as it was found: nothing in it has been compared with anything else, except shapes.
type Export struct {
	Dir      string
	Manifest *Manifest
	SHA256   string       // SHA-256 of the manifest's file, in lower-case hexadecimal
	C        *mat.Dense   // T×T; nil for a structured strategy exported without
	Inverse  *mat.Dense   // T×T; likewise
	CFile    string       // where C came from: C.npy or C.csv
	Layers   []Layer      // strategies of an export with Manifest.PerNode; C and Inverse are then nil
	Shared   *SharedNoise // the noise that nodes share; nil without Manifest.Space
	Mismatch []string     // files whose SHA-256 is not the manifest's, or that are missing
	Extra    []string     // files that the manifest does not list

	matrices map[string][]*mat.Dense // matrices by the name of their file, while Load runs
	contents map[string][]byte       // contents of the other listed files, by name
}

// Layer is one of several strategies.
type Layer struct{ C, Inverse *mat.Dense } // T×T

// ErrNoExport is returned for a folder without a manifest.
var ErrNoExport = errors.New("no export here")

// maxContent is the size of files beside the matrices up to which Load keeps them for Read; larger ones are only
// hashed.
const maxContent = 1 << 28

// Load reads the manifest of the folder dir, the matrices and the hashes of all files, each file once, so that what is
// hashed is what is used. Its errors are files that cannot be read as what they should be; hashes that differ are
// listed in Mismatch (see CheckHashes).
func Load(dir string) (*Export, error) { return LoadUntil(context.Background(), dir) }

// LoadUntil is Load, which ends with ctx, and with its error: an export may take a minute to hash.
func LoadUntil(ctx context.Context, dir string) (*Export, error) {
	m, sum, err := readManifestFile(dir)
	if err != nil {
		return nil, err
	}
	e := &Export{Dir: dir, Manifest: m, SHA256: sum, matrices: map[string][]*mat.Dense{}, contents: map[string][]byte{}}
	if err := e.readFiles(ctx); err != nil {
		return nil, err
	}
	if m.Space != nil {
		if e.Shared, err = e.readShared(); err == nil {
			err = m.Space.checkLabels(e.Shared)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := e.checkLevelNodes(); err != nil {
		return nil, err
	}
	if !e.lists("C") && !e.lists("C_inv") && m.Strategy.Class != "dense" {
		return e, nil // parameters only
	}
	var c, inverse []*mat.Dense
	if c, e.CFile, err = e.matrix("C"); err != nil {
		return nil, err
	}
	if inverse, _, err = e.matrix("C_inv"); err != nil {
		return nil, err
	}
	e.matrices = nil
	if m.PerNode == nil {
		e.C, e.Inverse = c[0], inverse[0]
		return e, nil
	}
	if len(c) != len(inverse) || slices.Max(m.PerNode.Layers) >= len(c) {
		return nil, fmt.Errorf("%s: %d strategies and %d inverses, but the nodes use %d", dir, len(c), len(inverse),
			slices.Max(m.PerNode.Layers)+1)
	}
	for i := range c {
		e.Layers = append(e.Layers, Layer{c[i], inverse[i]})
	}
	return e, nil
}

// Node returns the matrices that node i runs: its layer, or what all nodes share. They are nil where only parameters
// were exported.
func (e *Export) Node(i int) (Layer, error) {
	p := e.Manifest.PerNode
	if p == nil {
		return Layer{e.C, e.Inverse}, nil
	}
	if i < 0 || i >= len(p.Layers) {
		return Layer{}, fmt.Errorf("%s: node %d is not one of %d", e.Dir, i, len(p.Layers))
	}
	if p.Layers[i] >= len(e.Layers) { // parameters alone, which nodes with strategies of their own have none of
		return Layer{}, fmt.Errorf("%s: there is no matrix of node %d", e.Dir, i)
	}
	return e.Layers[p.Layers[i]], nil
}

// CheckHashes compares every file with its hash in the manifest. It fails with one error that names every file which
// differs, is missing, or is not listed.
func (e *Export) CheckHashes() error {
	wrong := slices.Clone(e.Mismatch)
	for _, name := range e.Extra {
		wrong = append(wrong, name+" is not of the export")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", e.Dir, strings.Join(wrong, "; "))
}

// Read returns the content of a file of the export, as it was when Load read and hashed it. Matrices of the strategy and
// of gossip are not kept, and cannot be read so.
func (e *Export) Read(name string) ([]byte, error) {
	content, ok := e.contents[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", filepath.Join(e.Dir, name), os.ErrNotExist)
	}
	return content, nil
}

// lists reports whether the manifest has the matrix, in some format.
func (e *Export) lists(name string) bool {
	_, npyThere := e.Manifest.Files[name+".npy"]
	_, csvThere := e.Manifest.Files[name+".csv"]
	return npyThere || csvThere
}

// readFiles reads every listed file that is there, and notes what differs from the manifest.
func (e *Export) readFiles(ctx context.Context) error {
	entries, err := os.ReadDir(e.Dir)
	if err != nil {
		return err
	}
	there := map[string]bool{ManifestName: true}
	for _, entry := range entries {
		name := entry.Name()
		want, listed := e.Manifest.Files[name]
		switch {
		case name == ManifestName:
			continue
		case !listed:
			e.Extra = append(e.Extra, name)
			continue
		}
		got, err := e.readFile(ctx, name)
		if err != nil {
			return err
		}
		if got != strings.ToLower(want) {
			e.Mismatch = append(e.Mismatch, name+" has another SHA-256 than the manifest")
		}
		there[name] = true
	}
	for name := range e.Manifest.Files {
		if !there[name] {
			e.Mismatch = append(e.Mismatch, name+" is missing")
		}
	}
	slices.Sort(e.Mismatch)
	return nil
}

// readFile reads a file into matrices or contents, and returns its SHA-256.
func (e *Export) readFile(ctx context.Context, name string) (string, error) {
	path := filepath.Join(e.Dir, name)
	f, size, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	r := io.TeeReader(untilDone{ctx, f}, hash)
	switch name {
	case "C.npy", "C_inv.npy":
		e.matrices[name], err = parseNPY(path, r, size, e.Manifest)
	case "C.csv", "C_inv.csv":
		var m *mat.Dense
		m, err = parseCSV(path, r, size, e.Manifest.Steps)
		e.matrices[name] = []*mat.Dense{m}
	case gossipNPY, gossipMTX: // see Export.Gossip
		_, err = io.Copy(io.Discard, r)
	default:
		if size > maxContent {
			_, err = io.Copy(io.Discard, r)
			break
		}
		var content bytes.Buffer
		_, err = content.ReadFrom(r)
		e.contents[name] = content.Bytes()
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// matrix returns what was in name.npy, or name.csv if there is no such file; if there are both, they must hold the same
// numbers.
func (e *Export) matrix(name string) ([]*mat.Dense, string, error) {
	equal := func(a, b *mat.Dense) bool { return mat.Equal(a, b) }
	binary, text := e.matrices[name+".npy"], e.matrices[name+".csv"]
	switch {
	case binary != nil && text != nil && !slices.EqualFunc(binary, text, equal):
		return nil, "", fmt.Errorf("%s: %s.npy and %s.csv hold different numbers", e.Dir, name, name)
	case binary != nil:
		return binary, name + ".npy", nil
	case text != nil:
		return text, name + ".csv", nil
	}
	return nil, "", fmt.Errorf("%s: neither %s.npy nor %s.csv is there", e.Dir, name, name)
}

// Digest returns the SHA-256 of the manifest as it was read. Of an export that passes CheckHashes it stands for every
// byte: the manifest has the hashes of all files.
func (e *Export) Digest() (string, error) {
	text, err := json.Marshal(e.Manifest)
	if err != nil {
		return "", err
	}
	d := study.NewDigest()
	d.Bytes(text)
	return d.Sum(), nil
}

// NodeStrategy returns the strategy that node i runs: of its matrix, or, of an export without, of the parameters.
func (e *Export) NodeStrategy(i int) (strategy.Strategy, error) {
	layer, err := e.Node(i)
	if err != nil {
		return nil, err
	}
	var s strategy.Strategy
	if layer.C == nil {
		s, err = e.Manifest.Strategy.Build(e.Manifest.Steps)
	} else {
		s, err = strategy.NewDense(layer.C)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	return s, nil
}

// SharedStrategy returns the strategy that all nodes share: of the parameters, or, of a class without, of the matrix.
func (e *Export) SharedStrategy() (strategy.Strategy, error) {
	s, err := e.Manifest.Strategy.Build(e.Manifest.Steps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	if s == nil {
		return e.NodeStrategy(0)
	}
	return s, nil
}

// NodeStrategies returns the strategy of every node of an export whose nodes have strategies of their own
// (Manifest.PerNode), in the order of nodes.csv. Nodes of one layer share one value, and thus its work.
func (e *Export) NodeStrategies() ([]strategy.Strategy, error) {
	layers, nodes := map[int]strategy.Strategy{}, make([]strategy.Strategy, len(e.Manifest.PerNode.Layers))
	for v, l := range e.Manifest.PerNode.Layers {
		if layers[l] == nil {
			var err error
			if layers[l], err = e.NodeStrategy(v); err != nil {
				return nil, err
			}
		}
		nodes[v] = layers[l]
	}
	return nodes, nil
}

// Describe returns what a manifest says of a strategy: its parameters, and what running it costs a node.
func Describe(c strategy.Strategy) Strategy {
	cost := c.NodeCost()
	return Strategy{Parameters: c.Parameters(), MemoryFloats: cost.Floats, FlopsPerStep: cost.Flops}
}
