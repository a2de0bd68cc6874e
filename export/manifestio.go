package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/strictjson"
)

// ErrManifest is wrapped by errors about a manifest that cannot be used.
var ErrManifest = errors.New("not a usable manifest")

// MaxSteps is more steps than a T×T matrix of float64 has room for anywhere.
const MaxSteps = 1 << 20

// WriteJSON writes the manifest as indented JSON. Numbers keep every bit; NaN and infinity are errors that name the
// field.
func (m *Manifest) WriteJSON(w io.Writer) error {
	if err := m.checkNumbers(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(m)
}

// maxManifest limits the bytes of a manifest. The longest manifests, of banded strategies of thousands of steps, are
// shorter.
const maxManifest = 1 << 29

// ReadManifest reads a manifest: JSON that all readers read alike (package strictjson), with the keys of this package
// alone, and the fields that every export needs plausible. Keys of later versions are refused, by name: what they say
// could change what the others mean.
func ReadManifest(r io.Reader) (*Manifest, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxManifest {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrManifest, maxManifest)
	}
	var m Manifest
	if err := strictjson.Decode(content, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if err := m.checkRange(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return &m, nil
}

// checkName refuses names that could lead out of the folder.
func checkName(name string) error {
	if name == "." || name == ManifestName || strings.ContainsAny(name, "/\\\x00") || !filepath.IsLocal(name) {
		return fmt.Errorf("%q cannot be a file of an export", name)
	}
	return nil
}

// readManifestFile reads the manifest of the folder dir, and returns its SHA-256, too; without a manifest, ErrNoExport.
func readManifestFile(dir string) (m *Manifest, sum string, err error) {
	path := filepath.Join(dir, ManifestName)
	f, _, err := files.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("%s: %w (it has no %s)", dir, ErrNoExport, ManifestName)
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	hash := sha256.New()
	if m, err = ReadManifest(io.TeeReader(f, hash)); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return m, hex.EncodeToString(hash.Sum(nil)), nil
}
