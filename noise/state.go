package noise

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mafalda/export"
)

// Durable is a stream whose place survives a crash. Its state file holds the key, so it is as secret as the gradients, and how
// many rows have been handed out. The file is on disk before a row is: a node that crashes may lose a row, but the noise of a step
// never goes out twice, for two different gradients. Opened again, the stream goes on with the row after the last one
// handed out, the same that an uninterrupted run would have had.
type Durable struct {
	*Stream
	path   string
	state  state
	unlock func() error
}

// state is the content of the state file.
type state struct {
	Format string  `json:"format"`
	Key    string  `json:"key"`    // secret
	Export string  `json:"export"` // SHA-256 of the manifest
	Node   string  `json:"node"`
	Dim    int     `json:"dim"`
	Std    float64 `json:"noise_std"`
	Grid   float64 `json:"grid,omitempty"`
	Seeded bool    `json:"seeded,omitempty"`
	Issued int     `json:"issued"` // rows handed out
}

const stateFormat = "mafalda noise state 1"

// ErrState is wrapped by errors about a state file that is not of this stream, or is in use.
var ErrState = errors.New("noise state cannot be used")

// OpenDurable is Open with the stream's place in the file at path: a new one, or where an earlier stream of the same export, node
// and options has left off. Only one process at a time can have it open (where the system has file locks).
func OpenDurable(dir, node string, dim int, path string, opts Options) (*Durable, error) {
	s, err := Open(dir, node, dim, opts)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("%w: %s is in use: %w", ErrState, path, err)
	}
	d, err := s.at(path, dir)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	d.unlock = unlock
	return d, nil
}

// at returns the stream with its place in the file at path, which is locked.
func (s *Stream) at(path, dir string) (*Durable, error) {
	manifest, err := os.ReadFile(filepath.Join(dir, export.ManifestName))
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(manifest)
	d := &Durable{Stream: s, path: path, state: state{Format: stateFormat, Key: hex.EncodeToString(s.key[:]), Export: hex.EncodeToString(hash[:]),
		Node: s.node, Dim: s.dim, Std: s.std, Grid: s.grid, Seeded: s.seed}}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return d, d.save()
	}
	if err != nil {
		return nil, err
	}
	return d, d.resume(text)
}

// resume takes key and place from an earlier state.
func (d *Durable) resume(text []byte) error {
	var earlier state
	if err := json.Unmarshal(text, &earlier); err != nil || earlier.Format != stateFormat {
		return fmt.Errorf("%w: %s is none", ErrState, d.path)
	}
	key, err := hex.DecodeString(earlier.Key)
	if err != nil || len(key) != len(d.key) || earlier.Issued < 0 || earlier.Issued > d.steps {
		return fmt.Errorf("%w: %s is damaged", ErrState, d.path)
	}
	if d.seed && earlier.Key != d.state.Key {
		return fmt.Errorf("%w: %s is of another seed", ErrState, d.path)
	}
	compare := earlier
	compare.Key, compare.Issued = d.state.Key, d.state.Issued
	if compare != d.state {
		return fmt.Errorf("%w: %s is of another export, node, model or noise", ErrState, d.path)
	}
	d.state = earlier
	copy(d.key[:], key)
	if f, ok := d.mix.(*full); ok && f.again != nil {
		f.again = d.key.normals
	}
	return d.skip(earlier.Issued)
}

// save writes the state, readable by its owner only.
func (d *Durable) save() error {
	text, err := json.MarshalIndent(d.state, "", "  ")
	if err != nil {
		return err
	}
	temporary := d.path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the noise state: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temporary, d.path)
	}
	if err != nil {
		return fmt.Errorf("writing the noise state: %w", err)
	}
	return syncFolder(filepath.Dir(d.path))
}

// syncFolder makes the renaming last; systems that cannot sync folders say so, which is no error.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("writing the noise state: %w", err)
	}
	_ = f.Sync()
	return f.Close()
}

// issue notes on disk that the next row goes out.
func (d *Durable) issue() error {
	if d.next >= d.steps {
		return nil // the stream says that it has ended
	}
	d.state.Issued = d.next + 1
	return d.save()
}

// Next is Stream's, after the state is on disk. If that fails no row is handed out, and the stream must not be used any more.
func (d *Durable) Next(dst []float64) error {
	if err := d.issue(); err != nil {
		return err
	}
	return d.Stream.Next(dst)
}

// NextFloat32 is Stream's, after the state is on disk.
func (d *Durable) NextFloat32(dst []float32) error {
	if err := d.issue(); err != nil {
		return err
	}
	return d.Stream.NextFloat32(dst)
}

// Close lets go of the state file.
func (d *Durable) Close() error { return d.unlock() }
