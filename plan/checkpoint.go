package plan

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/files"
	"mafalda/internal/npy"
	"mafalda/internal/study"
	"mafalda/internal/version"
)

// checkpointEvery is the time after which an iterate is kept.
const checkpointEvery = 10 * time.Second

// checkpointHeader is the first line of a checkpoint; X follows as .npy.
type checkpointHeader struct {
	Version    string `json:"version"`
	Key        string `json:"key"` // of the problem
	Iterations int    `json:"iterations"`
	SHA256     string `json:"sha256"` // of the numbers of X
}

// checkpoints keeps iterates, now and then. That it cannot is no reason to end: it says so once, tries again when
// the next one is due, and says at the end what there is.
type checkpoints struct {
	path  string // empty: nothing is kept
	key   study.Key
	steps int
	warn  func(format string, args ...any)

	tried  time.Time
	kept   int // iterations of the last one; -1: none
	failed error
}

func (c *checkpoints) keep(it factorize.Iteration) {
	if c.path == "" || time.Since(c.tried) < checkpointEvery {
		return
	}
	c.tried = time.Now()
	err := c.write(it)
	if err == nil {
		c.kept, c.failed = it.Count, nil
		return
	}
	if c.failed == nil {
		c.warn("the optimization goes on without a checkpoint: %v", err)
	}
	c.failed = err
}

// end says what is wrong with the checkpoint, if something is.
func (c *checkpoints) end() {
	switch {
	case c.failed == nil:
	case c.kept < 0:
		c.warn("no checkpoint was kept in %s: %v", c.path, c.failed)
	default:
		c.warn("the checkpoint in %s is that of iteration %d: %v", c.path, c.kept, c.failed)
	}
}

func (c *checkpoints) write(it factorize.Iteration) error {
	h := sha256.New()
	if err := npy.WriteNumbers(h, it.X); err != nil {
		return err
	}
	header, err := json.Marshal(checkpointHeader{version.String(), c.key.String(), it.Count,
		hex.EncodeToString(h.Sum(nil))})
	if err != nil {
		return err
	}
	return files.WriteFile(c.path, func(w io.Writer) error {
		if _, err := w.Write(append(header, '\n')); err != nil {
			return err
		}
		return npy.Write(w, []int{c.steps, c.steps}, it.X)
	}, true)
}

// read returns the X of the checkpoint and its number of iterations.
func (c *checkpoints) read() (*mat.SymDense, int, error) {
	file, _, err := files.Open(c.path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	line, err := r.ReadBytes('\n')
	var header checkpointHeader
	if err != nil || json.Unmarshal(line, &header) != nil || header.SHA256 == "" {
		return nil, 0, fmt.Errorf("%s is not a checkpoint", c.path)
	}
	switch {
	case header.Version != version.String():
		return nil, 0, fmt.Errorf("%s is of another version: %q", c.path, header.Version)
	case header.Key != c.key.String():
		return nil, 0, fmt.Errorf("%s is of another problem", c.path)
	}
	a, err := npy.Read(r, 8*int64(c.steps)*int64(c.steps))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.path, err)
	}
	h := sha256.New()
	if err := npy.WriteNumbers(h, a.Data); err != nil {
		return nil, 0, err
	}
	_, err = r.ReadByte()
	if hex.EncodeToString(h.Sum(nil)) != header.SHA256 || len(a.Data) != c.steps*c.steps || header.Iterations < 0 ||
		err != io.EOF {
		return nil, 0, fmt.Errorf("%s is damaged", c.path)
	}
	return mat.NewSymDense(c.steps, a.Data), header.Iterations, nil
}
