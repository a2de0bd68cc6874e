package study

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mafalda/internal/files"
)

// replaceFile writes a file and puts it in its place as a whole, on the disk. Nobody ever sees a part of it, and what a
// killed process leaves goes with the next one that writes to the folder. A link is ErrForeign: what it leads to is not
// the folder's.
func replaceFile(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a link, remove it", path, ErrForeign)
	}
	return files.WriteFile(path, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	}, true)
}

// replaceBytes is replaceFile of a file with this content.
func replaceBytes(path string, content []byte) error {
	return replaceFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// readFile returns the content of a file, ErrDamaged of what is no regular file, or has more bytes than there can be.
func readFile(path string, most int64) ([]byte, error) {
	content, err := files.Read(path, most)
	if errors.Is(err, files.ErrIrregular) || errors.Is(err, files.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return content, err
}

// checkWritable finds out whether files can be made in a folder, or in the nearest one above it that is there.
func checkWritable(dir string) error {
	there := dir
	if missing := missingAbove(dir); missing != nil {
		there = filepath.Dir(missing[len(missing)-1])
	}
	f, err := os.CreateTemp(there, ".mafalda-*")
	if err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
