package export

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
)

// Export is an export as it was found: nothing in it has been compared with anything else, except shapes.
type Export struct {
	Dir       string
	Manifest  *Manifest
	C         *mat.Dense // T×T; nil for a structured strategy exported without
	Inverse   *mat.Dense // T×T; likewise
	CFile     string     // where C came from: C.npy or C.csv
	Mismatch  []string   // files whose SHA-256 is not the manifest's, or that are missing
	Extra     []string   // files that the manifest does not list
	fileBytes map[string][]byte
}

// ErrNoExport is returned for a folder without a manifest.
var ErrNoExport = errors.New("no export here")

// Load reads the manifest of the folder dir, the matrices and the hashes of all files. Its errors are files that cannot be
// read as what they should be; hashes that differ are listed in Mismatch.
func Load(dir string) (*Export, error) {
	m, err := readManifestFile(dir)
	if err != nil {
		return nil, err
	}
	e := &Export{Dir: dir, Manifest: m, fileBytes: map[string][]byte{}}
	if err := e.readFiles(); err != nil {
		return nil, err
	}
	if !e.lists("C") && !e.lists("C_inv") && m.Strategy.Class != "dense" {
		return e, nil // parameters only
	}
	if e.C, e.CFile, err = e.matrix("C"); err != nil {
		return nil, err
	}
	if e.Inverse, _, err = e.matrix("C_inv"); err != nil {
		return nil, err
	}
	for _, name := range []string{"C.npy", "C.csv", "C_inv.npy", "C_inv.csv"} {
		delete(e.fileBytes, name)
	}
	return e, nil
}

// Read returns the content of a file of the export, as it was when Load read and hashed it.
func (e *Export) Read(name string) ([]byte, error) {
	content, ok := e.fileBytes[name]
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

func readManifestFile(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (it has no %s)", dir, ErrNoExport, ManifestName)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := ReadManifest(bufio.NewReader(io.LimitReader(f, 1<<24)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readFiles reads and hashes every listed file, once, so that what is checked is what is used.
func (e *Export) readFiles() error {
	entries, err := os.ReadDir(e.Dir)
	if err != nil {
		return err
	}
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
		content, err := os.ReadFile(filepath.Join(e.Dir, name))
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != strings.ToLower(want) {
			e.Mismatch = append(e.Mismatch, name+" has another SHA-256 than the manifest")
		}
		e.fileBytes[name] = content
	}
	for name := range e.Manifest.Files {
		if e.fileBytes[name] == nil {
			e.Mismatch = append(e.Mismatch, name+" is missing")
		}
	}
	slices.Sort(e.Mismatch)
	return nil
}

// matrix parses name.npy, or name.csv if there is no such file; if there are both, they must hold the same numbers.
func (e *Export) matrix(name string) (*mat.Dense, string, error) {
	binary, hasBinary := e.fileBytes[name+".npy"]
	text, hasText := e.fileBytes[name+".csv"]
	var fromBinary, fromText *mat.Dense
	var err error
	if hasBinary {
		if fromBinary, err = e.parseNPY(name+".npy", binary); err != nil {
			return nil, "", err
		}
	}
	if hasText {
		if fromText, err = e.parseCSV(name+".csv", text); err != nil {
			return nil, "", err
		}
	}
	switch {
	case hasBinary && hasText && !mat.Equal(fromBinary, fromText):
		return nil, "", fmt.Errorf("%s: %s.npy and %s.csv hold different numbers", e.Dir, name, name)
	case hasBinary:
		return fromBinary, name + ".npy", nil
	case hasText:
		return fromText, name + ".csv", nil
	}
	return nil, "", fmt.Errorf("%s: neither %s.npy nor %s.csv is there", e.Dir, name, name)
}

func (e *Export) parseNPY(name string, content []byte) (*mat.Dense, error) {
	a, err := npy.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(e.Dir, name), err)
	}
	if len(a.Shape) != 2 {
		return nil, fmt.Errorf("%s: shape %v", filepath.Join(e.Dir, name), a.Shape)
	}
	return e.square(name, a.Shape[0], a.Shape[1], a.Data)
}

func (e *Export) parseCSV(name string, content []byte) (*mat.Dense, error) {
	var data []float64
	rows := 0
	for line := range strings.Lines(string(content)) {
		rows++
		for field := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %.40q is not a number", filepath.Join(e.Dir, name), rows, field)
			}
			data = append(data, v)
		}
		if len(data) != rows*e.Manifest.Steps {
			return nil, fmt.Errorf("%s:%d: not %d numbers", filepath.Join(e.Dir, name), rows, e.Manifest.Steps)
		}
	}
	return e.square(name, rows, e.Manifest.Steps, data)
}

func (e *Export) square(name string, rows, cols int, data []float64) (*mat.Dense, error) {
	steps := e.Manifest.Steps
	if rows != steps || cols != steps {
		return nil, fmt.Errorf("%s: %d×%d numbers for %d steps", filepath.Join(e.Dir, name), rows, cols, steps)
	}
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: entry (%d,%d) is %v", filepath.Join(e.Dir, name), i/steps, i%steps, v)
		}
	}
	return mat.NewDense(rows, cols, data), nil
}
