package plan

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/internal/npy"
	"mafalda/internal/version"
	"mafalda/strategy"
	"mafalda/study"
)

// checkpointEvery is the time after which an iterate is kept.
const checkpointEvery = 10 * time.Second

// checkpointHeader is the first line of a checkpoint; numbers follow as .npy: X or, where nodes share noise, own
// variances, variances of pairs, and X.
type checkpointHeader struct {
	Version    string  `json:"version"`
	Key        string  `json:"key"` // digest of the problem
	Iterations int     `json:"iterations"`
	Round      int     `json:"round,omitempty"` // round of the alternation between nodes and steps
	Mu         float64 `json:"mu,omitempty"`    // barrier of the round's interior point
	SHA256     string  `json:"sha256"`          // SHA-256 of the numbers
}

// longestHeader is how many bytes of a file are looked at to find out that it is no checkpoint.
const longestHeader = 1 << 16

// checkpoints keeps iterates, now and then. That it cannot is no reason to end: it says so once, tries again when
// the next one is due, and says at the end what is kept.
type checkpoints struct {
	path  string // empty: nothing is kept
	key   study.Key
	shape []int // shape of the numbers
	warn  func(format string, args ...any)

	mutex  sync.Mutex // guards what follows: work that an interruption left behind may still save its state
	tried  time.Time
	kept   int // iterations of the last one; -1: none
	failed error
	latest func() error // writes what was there to keep last; nil: it is written
	closed bool
}

// checkpoints returns the keeper of numbers of this shape.
func (s *job) checkpoints(shape ...int) *checkpoints {
	c := &checkpoints{path: s.Options.Checkpoint, shape: shape, kept: -1,
		warn: func(format string, args ...any) { s.note(true, format, args...) }}
	if c.path == "" {
		return c
	}
	c.key = s.Problem.Key()
	if s.Problem.Sharing != nil { // not the dense optimum, which all classes begin with
		var in study.Inputs
		in.Add("problem", c.key)
		in.Add("class", fmt.Sprintf("%s %+v", s.Options.Class.Name(), s.Options.Class.Parameters()))
		c.key = in.Key("shared noise")
	}
	return c
}

// keep keeps the numbers with a header, unless it is too early. What last is to write must not change after the call.
func (c *checkpoints) keep(h checkpointHeader, numbers ...[]float64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.path == "" || c.closed {
		return
	}
	c.latest = func() error {
		err := c.write(h, slices.Concat(numbers...))
		if err == nil {
			c.kept = h.Iterations
		}
		return err
	}
	if time.Since(c.tried) >= checkpointEvery {
		c.flush()
	}
}

// flush writes what was there to keep last.
func (c *checkpoints) flush() {
	if c.latest == nil {
		return
	}
	c.tried = time.Now()
	err := c.latest()
	if c.latest = nil; err != nil && c.failed == nil {
		c.warn("the optimization goes on without a checkpoint: %v", err)
	}
	c.failed = err
}

// last keeps what is not kept yet, and nothing after that.
func (c *checkpoints) last() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.flush()
	c.closed = true
}

// end says what is wrong with the checkpoint, if something is.
func (c *checkpoints) end() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.failed == nil:
	case c.kept < 0:
		c.warn("no checkpoint was kept in %s: %v", c.path, c.failed)
	default:
		c.warn("the checkpoint in %s is that of iteration %d: %v", c.path, c.kept, c.failed)
	}
}

func (c *checkpoints) write(h checkpointHeader, numbers []float64) error {
	sum := sha256.New()
	if err := npy.WriteNumbers(sum, numbers); err != nil {
		return err
	}
	h.Version, h.Key, h.SHA256 = version.String(), c.key.String(), hex.EncodeToString(sum.Sum(nil))
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return files.WriteFile(c.path, func(w io.Writer) error {
		if _, err := w.Write(append(header, '\n')); err != nil {
			return err
		}
		return npy.Write(w, c.shape, numbers)
	}, true)
}

// read returns the numbers of the checkpoint and its header.
func (c *checkpoints) read() (numbers []float64, header checkpointHeader, err error) {
	file, _, err := files.Open(c.path)
	if err != nil {
		return nil, header, err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, longestHeader)
	line, err := r.ReadSlice('\n')
	if err != nil || json.Unmarshal(line, &header) != nil || header.SHA256 == "" {
		return nil, header, fmt.Errorf("%s is not a checkpoint", c.path)
	}
	switch {
	case header.Version != version.String():
		return nil, header, fmt.Errorf("%s is of another version: %q", c.path, header.Version)
	case header.Key != c.key.String():
		return nil, header, fmt.Errorf("%s is of another problem", c.path)
	}
	size := 1
	for _, d := range c.shape {
		size *= d
	}
	a, err := npy.Read(r, 8*int64(size))
	if err != nil {
		return nil, header, fmt.Errorf("%s: %w", c.path, err)
	}
	h := sha256.New()
	if err := npy.WriteNumbers(h, a.Data); err != nil {
		return nil, header, err
	}
	_, err = r.ReadByte()
	if hex.EncodeToString(h.Sum(nil)) != header.SHA256 || len(a.Data) != size || header.Iterations < 0 ||
		header.Round < 0 || header.Mu < 0 || err != io.EOF {
		return nil, header, fmt.Errorf("%s is damaged", c.path)
	}
	return a.Data, header, nil
}

// start returns the X to start from; nil for the search's own guess.
func (s *job) start(kept *checkpoints) (*mat.SymDense, error) {
	if o := s.Options; o.StartFrom != "" {
		return startFrom(o.StartFrom, s.schema().Steps())
	}
	x, _, err := s.resumed(kept)
	if x == nil || err != nil {
		return nil, err
	}
	return mat.NewSymDense(s.schema().Steps(), x), nil
}

// resumed returns what is in the checkpoint to go on with; nil without one.
func (s *job) resumed(kept *checkpoints) ([]float64, checkpointHeader, error) {
	if !s.Options.Resume {
		return nil, checkpointHeader{}, nil
	}
	numbers, header, err := kept.read()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, header, nil
	case err != nil:
		return nil, header, fault.Because("Checkpoint", err)
	}
	s.note(false, "going on after %d iterations, from %s", header.Iterations, s.Options.Checkpoint)
	return numbers, header, nil
}

// startFrom returns CᵀC of the strategy of an export, of its first node if there are several.
func startFrom(dir string, steps int) (*mat.SymDense, error) {
	e, err := export.Load(dir)
	if err == nil {
		err = e.CheckHashes()
	}
	if err != nil {
		return nil, fault.Because("StartFrom", err)
	}
	if e.Manifest.Steps != steps {
		return nil, fault.New("StartFrom", dir, "[StartFrom] %s has T = %d steps, not %d", dir, e.Manifest.Steps, steps)
	}
	c, err := e.NodeStrategy(0)
	if err != nil {
		return nil, fault.Because("StartFrom", err)
	}
	return strategy.GramOf(c), nil
}
