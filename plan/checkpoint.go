package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
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
	"mafalda/internal/version"
	"mafalda/strategy"
	"mafalda/study"
)

// checkpointEvery is the time after which an iterate is kept.
const checkpointEvery = 10 * time.Second

// checkpoint is the content of a file: the gob of this, behind its SHA-256.
type checkpoint struct {
	Version, Key string // the program's, and the digest of the problem
	Iterations   int
	Round        int       // round of the alternation between nodes and steps
	Mu           float64   // barrier of the round's interior point
	Numbers      []float64 // X or, where nodes share noise, own variances, variances of pairs, and X
}

// checkpoints keeps iterates, now and then. That it cannot is no reason to end: it says so once, tries again when
// the next one is due, and says at the end what is kept.
type checkpoints struct {
	path string // empty: nothing is kept
	key  study.Key
	size int // number of the numbers
	warn func(format string, args ...any)

	mutex  sync.Mutex // guards what follows: work that an interruption left behind may still save its state
	tried  time.Time
	kept   int // iterations of the last one; -1: none
	failed error
	latest func() error // writes what was there to keep last; nil: it is written
	closed bool
}

// checkpoints returns the keeper of this number of numbers.
func (s *job) checkpoints(size int) *checkpoints {
	c := &checkpoints{path: s.Options.Checkpoint, size: size, kept: -1,
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

// keep keeps an iterate with these numbers, unless it is too early. What last is to write must not change after the call.
func (c *checkpoints) keep(x checkpoint, numbers ...[]float64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.path == "" || c.closed {
		return
	}
	c.latest = func() error {
		x.Numbers = slices.Concat(numbers...)
		err := c.write(x)
		if err == nil {
			c.kept = x.Iterations
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

func (c *checkpoints) write(x checkpoint) error {
	x.Version, x.Key = version.String(), c.key.String()
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(x); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	return files.WriteFile(c.path, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader(sum[:]), &body))
		return err
	}, true)
}

// read returns the checkpoint. What is larger than it can be is not read.
func (c *checkpoints) read() (x checkpoint, err error) {
	const number, others = 9, 1 << 12 // bytes of a gob, at most
	content, err := files.Read(c.path, number*int64(c.size)+others)
	if errors.Is(err, files.ErrTooLarge) {
		return x, fmt.Errorf("%s is not a checkpoint of this problem: %w", c.path, err)
	}
	if err != nil {
		return x, err
	}
	sum, body := content[:min(sha256.Size, len(content))], content[min(sha256.Size, len(content)):]
	if is := sha256.Sum256(body); !bytes.Equal(is[:], sum) || gob.NewDecoder(bytes.NewReader(body)).Decode(&x) != nil {
		return x, fmt.Errorf("%s is damaged, or is not a checkpoint", c.path)
	}
	switch {
	case x.Version != version.String():
		return x, fmt.Errorf("%s is of another version: %q", c.path, x.Version)
	case x.Key != c.key.String() || len(x.Numbers) != c.size:
		return x, fmt.Errorf("%s is of another problem", c.path)
	}
	return x, nil
}

// start returns the X to start from; nil for the search's own guess.
func (s *job) start(kept *checkpoints) (*mat.SymDense, error) {
	if o := s.Options; o.StartFrom != "" {
		return startFrom(o.StartFrom, s.schema().Steps())
	}
	x, err := s.resumed(kept)
	if x.Numbers == nil || err != nil {
		return nil, err
	}
	return mat.NewSymDense(s.schema().Steps(), x.Numbers), nil
}

// resumed returns the checkpoint to go on with; one without numbers where no file exists.
func (s *job) resumed(kept *checkpoints) (x checkpoint, err error) {
	if !s.Options.Resume {
		return x, nil
	}
	x, err = kept.read()
	if errors.Is(err, os.ErrNotExist) {
		return x, nil
	}
	if err == nil {
		s.note(false, "going on after %d iterations, from %s", x.Iterations, s.Options.Checkpoint)
	}
	return x, fault.Because("Checkpoint", err)
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
