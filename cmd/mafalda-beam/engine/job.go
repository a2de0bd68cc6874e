package engine

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mafalda/cmd/internal/grids"
	"mafalda/internal/files"
	"mafalda/internal/version"
)

// mostInput is how many bytes the inputs of a job may have.
const mostInput = 1 << 30

// job is all that a worker needs to make the study of a command.
type job struct {
	Version string // version of the program
	Key     string // key of the study
	Command []string
	Flags   []grids.Flag
	Inputs  []input
}

// input is a file, or a folder with all files in it and below.
type input struct {
	Path  string // path as on the command line
	Files []file
}

type file struct {
	Name    string // name relative to Path, with slashes; "." if it is Path itself
	SHA256  string
	Content []byte
}

// pack returns the job of a grid in bytes, and their hash.
func pack(g *grids.Grid) (content []byte, hash string, err error) {
	j := &job{Version: version.String(), Key: g.Key.String(), Command: g.Command, Flags: g.Flags}
	left := int64(mostInput)
	for _, f := range g.Flags {
		for _, path := range f.Paths {
			if slices.ContainsFunc(j.Inputs, func(in input) bool { return in.Path == path }) {
				continue
			}
			in, err := readInput(path, &left)
			if err != nil {
				return nil, "", fmt.Errorf("--%s: %w", f.Name, err)
			}
			j.Inputs = append(j.Inputs, in)
		}
	}
	return encodeJob(j)
}

func encodeJob(j *job) (content []byte, hash string, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(gob.NewEncoder(z).Encode(j), z.Close()); err != nil {
		return nil, "", err
	}
	return b.Bytes(), sum(b.Bytes()), nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// readInput reads a file, or all files of a folder, and takes their bytes off left, the most that may be read.
func readInput(path string, left *int64) (input, error) {
	in := input{Path: path}
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return in, err
	}
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return nil // behind a link
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file, and workers have to get its bytes", name)
		}
		content, err := files.Read(name, *left)
		if errors.Is(err, files.ErrTooLarge) {
			return fmt.Errorf("%s: all inputs have more than %d MiB", name, mostInput>>20)
		}
		if err != nil {
			return err
		}
		*left -= int64(len(content))
		rel, err := filepath.Rel(root, name)
		in.Files = append(in.Files, file{filepath.ToSlash(rel), sum(content), content})
		return err
	})
	return in, err
}

// unpack is the inverse of pack.
func unpack(content []byte, hash string) (*job, error) {
	if sum(content) != hash {
		return nil, errors.New("the job is not the one that was packed")
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var j job
	if err := gob.NewDecoder(z).Decode(&j); err != nil {
		return nil, err
	}
	if v := version.String(); j.Version != v {
		return nil, fmt.Errorf("mixed versions of the program: the command is of %s, and this worker of %s", j.Version, v)
	}
	return &j, nil
}

// place writes the inputs into a folder, and returns where each of them is, by its path. They keep their base names.
func (j *job) place(dir string) (map[string]string, error) {
	places := map[string]string{}
	for i, in := range j.Inputs {
		name := filepath.Base(in.Path)
		if name == ".." {
			name = "." // the folder that is its own
		}
		base := filepath.Join(dir, strconv.Itoa(i), name)
		places[in.Path] = base
		for _, f := range in.Files {
			if sum(f.Content) != f.SHA256 || f.Name != "." && !filepath.IsLocal(filepath.FromSlash(f.Name)) {
				return nil, fmt.Errorf("%s is not what was packed", in.Path)
			}
			name := filepath.Join(base, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				return nil, err
			}
			if err := os.WriteFile(name, f.Content, 0o600); err != nil {
				return nil, err
			}
		}
	}
	return places, nil
}
