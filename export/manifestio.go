package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	if err := checkFinite(reflect.ValueOf(m), ""); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(m)
}

// checkFinite walks to every float64, maps by their keys in order. Types that write themselves find their own.
func checkFinite(v reflect.Value, path string) error {
	if v.Kind() == reflect.Struct && v.Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkFinite(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name != "" {
				name = strings.TrimPrefix(path+"."+name, ".")
			} else { // embedded: its keys stand in the struct around it
				name = path
			}
			if err := checkFinite(v.Field(i), name); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			if err := checkFinite(v.MapIndex(key), path+"."+key.String()); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: %s is %v", ErrManifest, path, f)
		}
	}
	return nil
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

// readManifestFile reads the manifest of the folder dir, and returns its SHA-256, too; ErrNoExport if there is none.
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
