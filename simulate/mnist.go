package simulate

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mafalda/internal/files"
)

const (
	idxImages   = 0x803 // three dimensions of unsigned bytes
	idxLabels   = 0x801
	idxMost     = 1 << 30 // bytes of a file after decompression
	maxPixel    = 255
	mnistRate   = 1 // half of the gradients are still clipped at the end; at 0.1 nearly all are, and models hardly learn
	minClasses  = 2
	mnistSource = "the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and " +
		"t10k-labels-idx1-ubyte (.gz or not), which are at https://ossci-datasets.s3.amazonaws.com/mnist/"
)

// MNISTFiles are the names of the files of MNIST and of what has its format: training images and labels, test images and
// labels.
func MNISTFiles() [4]string {
	return [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}
}

// MNIST is logistic regression on images in MNIST's format (IDX, possibly gzipped and then named .gz) in the folder dir, pixels
// from 0 to 1. The files split training from test, whatever the seed. A missing file is an os.ErrNotExist
// that says where to get it; the other errors wrap ErrData.
func MNIST(dir string) (Task, error) {
	var parts [2]Dataset
	classes := minClasses
	for i := range parts {
		images, shape, err := readIDX(dir, MNISTFiles()[2*i], idxImages)
		if err != nil {
			return Task{}, err
		}
		labels, count, err := readIDX(dir, MNISTFiles()[2*i+1], idxLabels)
		if err != nil {
			return Task{}, err
		}
		if shape[0] != count[0] || shape[0] == 0 || shape[1]*shape[2] == 0 {
			return Task{}, fmt.Errorf("%s: %w: %d images of %d×%d with %d labels", dir, ErrData, shape[0], shape[1], shape[2], count[0])
		}
		d := Dataset{shape[1] * shape[2], make([]float32, len(images)), make([]float32, len(labels))}
		for j, v := range images {
			d.Inputs[j] = float32(v) / maxPixel
		}
		for j, v := range labels {
			d.Targets[j] = float32(v)
			classes = max(classes, int(v)+1)
		}
		parts[i] = d
	}
	if parts[0].Features != parts[1].Features {
		return Task{}, fmt.Errorf("%s: %w: training images have %d pixels, test images %d", dir, ErrData, parts[0].Features, parts[1].Features)
	}
	return Task{Name: "mnist", Model: NewLogistic(parts[0].Features, classes), LearningRate: mnistRate,
		Split: func(uint64) (train, test Dataset) { return parts[0], parts[1] }}, nil
}

// openMNIST opens a file of the folder, or that with .gz behind its name.
func openMNIST(dir, name string) (*os.File, error) {
	if dir == "" {
		return nil, missing(os.ErrNotExist, "", "the folder with "+mnistSource)
	}
	f, _, err := files.Open(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		f, _, err = files.Open(filepath.Join(dir, name+".gz"))
	}
	if err != nil {
		return nil, missing(err, dir, "a folder with "+mnistSource)
	}
	return f, nil
}

// readIDX returns the bytes of a file, and their dimensions.
func readIDX(dir, name string, magic uint32) ([]byte, []int, error) {
	f, err := openMNIST(dir, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, shape, err := parseIDX(f, magic)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", f.Name(), ErrData, err)
	}
	return data, shape, nil
}

// parseIDX reads a magic number, whose last byte is how many dimensions follow (4 bytes each, big-endian), and the bytes.
func parseIDX(file io.Reader, magic uint32) ([]byte, []int, error) {
	var r io.Reader = bufio.NewReader(file)
	if start, _ := r.(*bufio.Reader).Peek(2); len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, err
		}
		r = unzipped
	}
	header := make([]uint32, 1+magic&0xff)
	if err := binary.Read(r, binary.BigEndian, header); err != nil {
		return nil, nil, fmt.Errorf("reading the header: %w", err)
	}
	if header[0] != magic {
		return nil, nil, fmt.Errorf("starts with %#x, must be %#x", header[0], magic)
	}
	size := 1
	var shape []int
	for _, v := range header[1:] {
		if v > 0 && size > idxMost/int(v) {
			return nil, nil, fmt.Errorf("dimensions %v are too many bytes", header[1:])
		}
		size *= int(v)
		shape = append(shape, int(v))
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && len(data) != size {
		err = fmt.Errorf("dimensions %v do not fit what follows", header[1:])
	}
	return data, shape, err
}
