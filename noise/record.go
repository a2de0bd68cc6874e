package noise

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"mafalda/internal/files"
)

// A record is a small file that says how many rows are out. It is written in place, never replaced, so that a lock on
// it holds for all its names and nothing can be slipped in between:
//
//	head    a line: SHA-256 of the JSON, the JSON, which never changes; then empty lines to a multiple of blockSize
//	place   a line: SHA-256 of head and place, the place as JSON; then empty lines to blockSize bytes
//	place   once more
//
// Writing changes one copy of the place, waits for the disk, and then changes the other. So at any moment one of them
// is whole, whatever a crash tears or a bad sector destroys, and it is not older than the last row that was handed out.
// All room is taken when the file is made: a full disk does not stop the writing.
type record struct {
	path    string // absolute; links are followed each time
	file    *os.File
	head    []byte
	place   place
	content []byte // content of the whole file, as last written
}

// place is what changes in a record.
type place struct {
	Issued  int    `json:"issued"`            // rows handed out
	Start   string `json:"start"`             // random digits of the process that has or had it open
	Open    bool   `json:"open,omitempty"`    // rows were handed out since Start, and it was not closed
	Counter bool   `json:"counter,omitempty"` // a state that must not be used without its counter
	Joining bool   `json:"joining,omitempty"` // a state whose run with its neighbours has not begun

	Again   bool   `json:"again,omitempty"`   // the last row that was handed out may be asked for again (see Issuer)
	Carried int    `json:"carried,omitempty"` // rows of skipped steps in that row
	Sending string `json:"sending,omitempty"` // digest of the message that it protects
	Unsent  int    `json:"unsent,omitempty"`  // rows that the next row will have in it, without Again

	End int `json:"end,omitempty"` // the row that would pass the node's budget; 0: none would
}

const (
	blockSize  = 4096    // larger than what disks write at once: a torn copy leaves the other alone
	recordSize = 1 << 20 // no head is as large
)

// newRecord makes the file at path, which must not exist, and locks it. It has another name until it is whole, so that
// a crash leaves a record or none, on systems where open files can be renamed.
func newRecord(path string, head any, at place) (r *record, err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	temporary := path
	if runtime.GOOS != "windows" {
		temporary = filepath.Join(filepath.Dir(path), ".mafalda-"+rand.Text()[:12])
	}
	f, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	name := temporary
	defer func() {
		if err != nil {
			r, err = nil, errors.Join(err, f.Close(), os.Remove(name))
		}
	}()
	if r, err = initRecord(path, f, head, at); err != nil || temporary == path {
		return r, err
	}
	if err = files.Move(temporary, path, false); err != nil {
		return nil, err
	}
	name = path
	return r, files.SyncFolder(filepath.Dir(r.path))
}

// initRecord makes a record of an empty file, which stays open.
func initRecord(path string, f *os.File, head any, at place) (r *record, err error) {
	r = &record{file: f, place: at}
	if r.head, err = json.Marshal(head); err != nil {
		return nil, err
	}
	r.content = append(block(checksum(nil, r.head), r.head), bytes.Repeat(r.placeBlock(at), 2)...)
	if len(r.content) > recordSize {
		return nil, fmt.Errorf("%s: %w: too many neighbours, or too long a label", path, ErrState)
	}
	if r.path, err = filepath.Abs(path); err == nil {
		err = files.TryLock(f)
	}
	if err == nil {
		_, err = f.WriteAt(r.content, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return r, err
}

// openRecord opens and locks the file at path. Its errors wrap os.ErrNotExist, files.ErrLocked, ErrState for what is no
// record, or are the system's.
func openRecord(path string) (*record, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, size, err := files.Update(path)
	if err != nil {
		return nil, err
	}
	r := &record{path: absolute, file: f}
	if err = files.TryLock(f); err == nil {
		err = r.read(size)
	}
	if err == nil {
		err = r.checkName()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return r, nil
}

// read takes head and place from the file.
func (r *record) read(size int64) error {
	if size > recordSize {
		return fmt.Errorf("%w: it is no record of rows of this version", ErrState)
	}
	r.content = make([]byte, size)
	if _, err := r.file.ReadAt(r.content, 0); err != nil && err != io.EOF {
		return err
	}
	headSize, found := len(r.content)-2*blockSize, false
	if headSize >= blockSize && headSize%blockSize == 0 {
		r.head, found = parseBlock(nil, r.content[:headSize])
	}
	if !found {
		return fmt.Errorf("%w: it is no record of rows of this version, or damaged", ErrState)
	}
	found = false
	for at := headSize; at < len(r.content); at += blockSize {
		var p place
		text, ok := parseBlock(r.head, r.content[at:at+blockSize])
		if !ok || json.Unmarshal(text, &p) != nil || !p.valid() {
			continue // torn or damaged: the other copy has it
		}
		if !found || p.Issued > r.place.Issued { // of two of as many rows the first one, which is written first
			r.place, found = p, true
		}
	}
	if !found {
		return fmt.Errorf("%w: it is damaged: how many rows were handed out is lost", ErrState)
	}
	return nil
}

// checkName checks that path still leads to the open file: it was not deleted, moved or replaced.
func (r *record) checkName() error {
	there, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("%w: it is gone: %w", ErrState, err)
	}
	mine, err := r.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(there, mine) {
		return fmt.Errorf("%w: another file was put in its place", ErrState)
	}
	return nil
}

// check tells whether the file is still the one that was opened, and holds what this process wrote last.
func (r *record) check() error {
	if err := r.checkName(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	now := make([]byte, len(r.content)+1)
	if n, err := r.file.ReadAt(now, 0); err != io.EOF || !bytes.Equal(now[:n], r.content) {
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		return fmt.Errorf("%s: %w: somebody else has written to it", r.path, ErrState)
	}
	return nil
}

// writePlace writes a place, both copies one after the other.
func (r *record) writePlace(p place) error {
	block := r.placeBlock(p)
	for at := len(r.content) - 2*blockSize; at < len(r.content); at += blockSize {
		copy(r.content[at:], block)
		if _, err := r.file.WriteAt(block, int64(at)); err != nil {
			return fmt.Errorf("writing %s: %w", r.path, err)
		}
		if err := r.file.Sync(); err != nil {
			return fmt.Errorf("writing %s: %w", r.path, err)
		}
	}
	r.place = p
	return nil
}

func (r *record) placeBlock(p place) []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers, words and short text
	}
	return block(checksum(r.head, text), text)
}

func checksum(head, text []byte) []byte {
	h := sha256.New()
	h.Write(head)
	h.Write(text)
	return h.Sum(nil)
}

// block returns a line and the empty lines behind it.
func block(sum, text []byte) []byte {
	line := append(hex.AppendEncode(nil, sum), ' ')
	line = append(append(line, text...), '\n')
	return append(line, bytes.Repeat([]byte{'\n'}, (blockSize-len(line)%blockSize)%blockSize)...)
}

// parseBlock is the inverse of block; ok only if every byte is as block would write it.
func parseBlock(head, b []byte) (text []byte, ok bool) {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	_, text, ok = bytes.Cut(line, []byte{' '})
	return text, ok && bytes.Equal(block(checksum(head, text), text), b)
}
