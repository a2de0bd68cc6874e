package study

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// temporary is what names of files begin with until they are whole.
const temporary = ".mafalda-"

// abandoned is the age at which a temporary file is nobody's any more.
const abandoned = time.Hour

// replaceFile writes a file and puts it in its place as a whole, on the disk once its folder is flushed. Nobody
// ever sees a part of it.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := createTemporary(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone if all went well
	defer f.Close()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func createTemporary(dir string) (*os.File, error) {
	for {
		f, err := os.OpenFile(filepath.Join(dir, temporary+rand.Text()[:12]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// syncDir flushes the entries of a folder, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if errors.Is(err, os.ErrPermission) {
		return nil // a folder that may be written but not listed
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// sweep removes temporary files of processes that were killed long ago. What cannot be removed stays: it is in
// nobody's way.
func sweep(dir string, entries []os.DirEntry) {
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), temporary) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// checkWritable finds out whether files can be made in a folder, or in the nearest one above it that is there.
func checkWritable(dir string) error {
	for {
		_, err := os.Stat(dir)
		if err == nil || !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := createTemporary(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
