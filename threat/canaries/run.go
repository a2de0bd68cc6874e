package canaries

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/internal/strictjson"
)

const (
	runFormat   = "mafalda run 1"
	viewFormat  = "mafalda view 1"
	runName     = "run.json"
	updateName  = "updates.f32"
	messageName = "messages.f32"
)

// Run is what a node recorded of a training: how its messages changed the models that it held, which follows from all
// messages.
type Run struct {
	Format   string  `json:"format"`
	Export   string  `json:"export"` // SHA-256 of the manifest
	Node     string  `json:"node"`
	Dim      int     `json:"dim"`
	Steps    int     `json:"steps"`
	Size     float64 `json:"size"`     // what sums are divided by
	Momentum float64 `json:"momentum"` // β: updates are u_t = g_t + β u_(t-1)
	Layers   []int   `json:"layers"`   // parameters of each, Σ = Dim

	// Gradients says that the record has the gradients that an optimizer was given, for optimizers that cannot be undone:
	// what happened to models beside them is not in it.
	Gradients bool `json:"gradients,omitempty"`

	// The next three belong to a record of what an attacker received (viewFormat), which is Node then.
	Seen  []string           `json:"seen,omitempty"`  // nodes that it hears, in the order of the export
	Sizes map[string]float64 `json:"sizes,omitempty"` // what each node divides its sums by
	Rates []float64          `json:"rates,omitempty"` // learning rate of every step

	// updates.f32: T×d float32, little-endian: (model before - message) / rate, NaN where no message left; or
	// messages.f32: the model that all begin with, and for every step Node's own message and those of Seen.
	file *os.File
}

// Attacker reports whether the run is what a node received of others.
func (r *Run) Attacker() bool { return r.Format == viewFormat }

// rows returns how many rows the file has.
func (r *Run) rows() int {
	if r.Attacker() {
		return 1 + r.Steps*(1+len(r.Seen))
	}
	return r.Steps
}

// OpenRun opens the folder of a run; close it after use. It fails unless the folder is complete.
func OpenRun(dir string) (*Run, error) {
	content, err := files.Read(filepath.Join(dir, runName), 1<<28)
	if err != nil {
		return nil, fmt.Errorf("no run is recorded in %s: %w", dir, err)
	}
	var r Run
	if err := strictjson.Decode(content, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, runName), err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, runName), err)
	}
	path := filepath.Join(dir, updateName)
	if r.Attacker() {
		path = filepath.Join(dir, messageName)
	}
	file, size, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	if want := 4 * int64(r.rows()) * int64(r.Dim); size != want {
		file.Close()
		return nil, fmt.Errorf("%s has %d bytes, and %d rows of %d parameters have %d", path, size, r.rows(), r.Dim, want)
	}
	r.file = file
	return &r, nil
}

func (r *Run) check() error {
	sum := 0
	for _, n := range r.Layers {
		if n < 1 || n > r.Dim {
			return fmt.Errorf("a layer has %d parameters of %d", n, r.Dim)
		}
		sum += n
	}
	switch {
	case strings.ContainsFunc(r.Node, unicode.IsControl):
		return fmt.Errorf("the node's label %q has control characters", r.Node)
	case r.Format != runFormat && r.Format != viewFormat:
		return fmt.Errorf("it is no run: its format is %q, not %q", r.Format, runFormat)
	case r.Steps < 1 || r.Dim < 1 || int64(r.rows()) > math.MaxInt64/int64(r.Dim)/8:
		return fmt.Errorf("steps %d, dim %d: both are at least 1", r.Steps, r.Dim)
	case r.Attacker() && (len(r.Seen) == 0 || len(r.Rates) != r.Steps):
		return fmt.Errorf("messages of %d nodes, %d rates for %d steps", len(r.Seen), len(r.Rates), r.Steps)
	case r.Attacker() && slices.ContainsFunc(r.Rates, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }):
		return errors.New("a learning rate is not above 0")
	case !r.Attacker() && (!(r.Size > 0) || math.IsInf(r.Size, 0)):
		return fmt.Errorf("size %v: it is above 0", r.Size)
	case !(r.Momentum >= 0 && r.Momentum < 1):
		return fmt.Errorf("momentum %v: it is from 0 to below 1", r.Momentum)
	case sum != r.Dim:
		return fmt.Errorf("layers have %d parameters, and the model has %d", sum, r.Dim)
	}
	return nil
}

// Close closes the file of updates.
func (r *Run) Close() error { return r.file.Close() }

// Sent returns the steps in which a message left; all of them for what an attacker received.
func (r *Run) Sent() ([]int, error) {
	if r.Attacker() {
		return lists.UpTo(r.Steps), nil
	}
	var sent []int
	var first [1]float32
	for t := range r.Steps {
		if err := r.read(first[:], t, 0); err != nil {
			return nil, err
		}
		if first[0] == first[0] { // no NaN
			sent = append(sent, t)
		}
	}
	if r.Momentum > 0 && len(sent) < r.Steps {
		return nil, fmt.Errorf("%d of %d steps left no message, which with momentum is not audited",
			r.Steps-len(sent), r.Steps)
	}
	return sent, nil
}

// gradients writes columns from … from+width-1 of O to dst, a row for every step that was sent.
func (r *Run) gradients(dst []float32, sent []int, from, width int) error {
	for i, t := range sent {
		row := dst[i*width : (i+1)*width]
		if err := r.read(row, t, from); err != nil {
			return err
		}
		if err := r.finite(row, t, from); err != nil {
			return err
		}
		for j := range row {
			row[j] *= float32(r.Size)
		}
	}
	if r.Momentum > 0 {
		for i := len(sent) - 1; i > 0; i-- { // from the last: the row before is still u
			row, before := dst[i*width:(i+1)*width], dst[(i-1)*width:i*width]
			for j := range row {
				row[j] -= float32(r.Momentum) * before[j]
			}
		}
	}
	return nil
}

// finite refuses rows with numbers that are none.
func (r *Run) finite(row []float32, number, from int) error {
	for j, v := range row {
		if v-v != 0 {
			return fmt.Errorf("%s: parameter %d of row %d is %v", r.file.Name(), from+j, number, v)
		}
	}
	return nil
}

// read reads parameters from … of a row: step t, of a record of messages.
func (r *Run) read(dst []float32, t, from int) error {
	at := 4 * (int64(t)*int64(r.Dim) + int64(from))
	return binary.Read(io.NewSectionReader(r.file, at, 4*int64(len(dst))), binary.LittleEndian, dst)
}
