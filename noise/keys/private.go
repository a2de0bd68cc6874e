package keys

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"unicode/utf8"

	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/strictjson"
)

// ErrKey is wrapped by errors about keys that are missing, damaged or another node's.
var ErrKey = errors.New("key cannot be used")

// Private is the private key of a node. Copies share it; what prints one shows none of it.
type Private struct {
	node, path string // path: where it is saved, absolute and without links; empty if it is not
	secret     func() *ecdh.PrivateKey
}

// New returns a key for a node, of the operating system's random numbers.
func New(node string) (Private, error) {
	if err := checkLabel(node); err != nil {
		return Private{}, err
	}
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Private{}, fmt.Errorf("drawing a key: %w", err)
	}
	return Private{node: node, secret: func() *ecdh.PrivateKey { return key }}, nil
}

func checkLabel(node string) error {
	if node == "" || !utf8.ValidString(node) {
		return fmt.Errorf("%w: the label %q is empty, or not UTF-8", ErrKey, node)
	}
	if err := graph.CheckLabel(node); err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	return nil
}

// Node returns the label of the node whose key it is.
func (p Private) Node() string { return p.node }

// Public returns what others may know.
func (p Private) Public() Public {
	public := Public{Node: p.node}
	copy(public.Key[:], p.secret().PublicKey().Bytes())
	return public
}

// String returns no secret.
func (p Private) String() string { return "keys.Private(secret)" }

// GoString returns no secret.
func (p Private) GoString() string { return p.String() }

// privateFile is the content of a file with a private key.
type privateFile struct {
	Format  string `json:"format"`
	Node    string `json:"node"`
	Private string `json:"private"`
	Public  string `json:"public"`
}

const (
	privateFormat = "mafalda key 1"
	largestFile   = 1 << 26 // of keys and announcements
)

// Save writes the key to a file that only its owner can read, and makes the folder beside it that notes which runs it
// has begun: path with ".runs". Neither must exist (fs.ErrExist).
func (p *Private) Save(path string) (err error) {
	public := p.Public()
	text, err := json.Marshal(privateFile{privateFormat, p.node, hex.EncodeToString(p.secret().Bytes()),
		hex.EncodeToString(public.Key[:])})
	if err != nil {
		return err
	}
	if err := os.Mkdir(ledgerOf(path), 0o700); err != nil {
		return err
	}
	if err := files.WritePrivate(path, append(text, '\n')); err != nil {
		return errors.Join(err, os.Remove(ledgerOf(path)))
	}
	p.path, err = realPath(path)
	return err
}

// realPath returns the one name of the file of a key, absolute and without links, so that the same key always meets the same
// notes. It fails for a file of several names (hard links), and for a link with notes of its own, of which some were begun.
func realPath(path string) (string, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if n := files.Names(info); n > 1 {
		return "", fmt.Errorf("%w: it has %d names (hard links), which would be %d ledgers of what it has begun: remove all "+
			"but one", ErrKey, n, n)
	}
	if _, err := os.Lstat(ledgerOf(path)); err == nil && !files.Same(ledgerOf(path), ledgerOf(real)) {
		return "", fmt.Errorf("%w: it is a link to %s, and both have notes of what was begun: move what is in %s into %s, and "+
			"remove it", ErrKey, real, ledgerOf(path), ledgerOf(real))
	}
	return real, nil
}

// Load reads what Save has written; a link is followed, to the notes of what it leads to. It fails with ErrKey if others than
// its owner can read the file, where systems tell, and for a file whose notes are not known: one of several names (hard
// links), and a link with notes of its own.
func Load(path string) (Private, error) {
	p, err := load(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return p, err
}

func load(path string) (p Private, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return p, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return p, fmt.Errorf("%w: others than its owner can use the file (mode %o, not 600)", ErrKey, mode)
	}
	real, err := realPath(path)
	if err != nil {
		return p, err
	}
	text, err := files.Read(real, largestFile)
	if err != nil {
		return p, err
	}
	var content privateFile
	if err := strictjson.Decode(text, &content); err != nil {
		return p, fmt.Errorf("%w: it is no private key: %w", ErrKey, err)
	}
	secret, err := parseHex(content.Private)
	if err != nil || content.Format != privateFormat {
		return p, fmt.Errorf("%w: it is no private key, or damaged", ErrKey) // and nothing of it is shown
	}
	if err := checkLabel(content.Node); err != nil {
		return p, err
	}
	key, err := ecdh.X25519().NewPrivateKey(secret)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrKey, err)
	}
	public, err := parseHex(content.Public)
	if err != nil || !bytes.Equal(public, key.PublicKey().Bytes()) {
		return p, fmt.Errorf("%w: it is damaged: the public key does not belong to the private one", ErrKey)
	}
	return Private{content.Node, real, func() *ecdh.PrivateKey { return key }}, nil
}

// point returns the secret that two keys have in common.
func (p Private) point(other Public) ([]byte, error) {
	key, err := ecdh.X25519().NewPublicKey(other.Key[:])
	if err != nil {
		return nil, fmt.Errorf("%w: of node %q: %w", ErrKey, other.Node, err)
	}
	point, err := p.secret().ECDH(key)
	if err != nil { // a point of small order, whose secret everybody knows
		return nil, fmt.Errorf("%w: the public key of node %q is none: %w", ErrKey, other.Node, err)
	}
	return point, nil
}
