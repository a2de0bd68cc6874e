package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Why a file is refused.
var (
	ErrIrregular = errors.New("not a regular file")
	ErrTooLarge  = errors.New("too large")
	ErrLocked    = errors.New("in use by another process")
)

// Open opens a regular file for reading, and returns its size in bytes. Links are followed. It never waits: pipes,
// sockets, devices and folders are ErrIrregular, with the path in the message.
func Open(path string) (*os.File, int64, error) { return open(path, os.O_RDONLY) }

// Update is Open for a file that is read and written in place.
func Update(path string) (*os.File, int64, error) { return open(path, os.O_RDWR) }

func open(path string, flag int) (*os.File, int64, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0) // a pipe without a writer would wait
	if err != nil {
		// a socket cannot be opened at all
		if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
			return nil, 0, irregular(path, info)
		}
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(path, info)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func irregular(path string, info os.FileInfo) error {
	if info.IsDir() {
		return fmt.Errorf("%s is a folder: %w", path, ErrIrregular)
	}
	return fmt.Errorf("%s is a pipe or a device, %w: save it to a file first", path, ErrIrregular)
}

// Read returns the content of a regular file of at most limit bytes; ErrTooLarge if it holds more.
func Read(path string, limit int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, where at most %d are expected", path, ErrTooLarge, size, limit)
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit { // it has grown, or has no size, as in /proc
		return nil, fmt.Errorf("%s: %w: more than %d bytes", path, ErrTooLarge, limit)
	}
	return content, nil
}

// SHA256 returns the hash of a regular file in hexadecimal digits. Pipes and devices are refused as by Open: they cannot be
// read twice, or end.
func SHA256(path string) (string, error) {
	f, _, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Same reports whether two paths lead to one file or folder, or would if they were made.
func Same(a, b string) bool {
	i, err := os.Stat(a)
	j, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(i, j)
	}
	p, err := filepath.Abs(a)
	q, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && p == q
}
