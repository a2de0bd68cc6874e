package export

import (
	"bufio"
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

	"mafalda/factorize"
)

// ErrManifest is wrapped by errors about a manifest that cannot be used.
var ErrManifest = errors.New("not a usable manifest")

// MaxSteps is more steps than a T×T matrix of float64 has room for anywhere.
const MaxSteps = 1 << 20

// WriteJSON writes the manifest as indented JSON. Numbers keep every bit; NaN and infinity are errors that name the field.
func (m *Manifest) WriteJSON(w io.Writer) error {
	if err := checkFinite(reflect.ValueOf(m), ""); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(m)
}

// checkFinite walks to every float64, maps by their keys in order.
func checkFinite(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkFinite(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if err := checkFinite(v.Field(i), strings.TrimPrefix(path+"."+name, ".")); err != nil {
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

// ReadManifest reads a manifest and checks that the fields every export needs are there and plausible. Unknown fields, of
// later versions, are ignored.
func ReadManifest(r io.Reader) (*Manifest, error) {
	var m Manifest
	d := json.NewDecoder(r)
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: something follows the JSON object", ErrManifest)
	}
	switch {
	case m.Steps < 1 || m.Participation.K < 1 || m.Participation.B < 1:
		return nil, fmt.Errorf("%w: steps %d, k %d, b %d", ErrManifest, m.Steps, m.Participation.K, m.Participation.B)
	case m.Steps > MaxSteps:
		return nil, fmt.Errorf("%w: %d steps are more than %d", ErrManifest, m.Steps, MaxSteps)
	case m.Strategy.Class == "" || m.Workload == "":
		return nil, fmt.Errorf("%w: strategy class or workload is missing", ErrManifest)
	case !(m.Loss > 0) || !(m.SensSquared > 0) || m.LowerBound < 0 || m.LowerBound == 0 && m.Steps <= factorize.LongSteps:
		return nil, fmt.Errorf("%w: loss, sens_squared or lower_bound is missing or not positive", ErrManifest)
	case m.PerNode != nil && (len(m.PerNode.Layers) == 0 || slices.Min(m.PerNode.Layers) < 0):
		return nil, fmt.Errorf("%w: per_node has no layers, or negative ones", ErrManifest)
	case len(m.Files) == 0:
		return nil, fmt.Errorf("%w: it lists no files", ErrManifest)
	}
	for name := range m.Files {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrManifest, err)
		}
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

// readManifestFile reads the manifest of the folder dir; ErrNoExport if there is none.
func readManifestFile(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	f, _, err := openRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (it has no %s)", dir, ErrNoExport, ManifestName)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := ReadManifest(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
