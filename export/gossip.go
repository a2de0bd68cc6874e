package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/npy"
)

// The files of gossip matrices: one of them, or none.
const (
	gossipNPY = "W.npy"
	gossipMTX = "W.mtx"
)

const (
	denseGossip = 2048 * 2048 // numbers up to which matrices are written as W.npy
	// MaxGossipEntries is how many nonzero entries W may have to be written at all: 150 MB of W.mtx.
	MaxGossipEntries = 1 << 22
)

// Gossip returns the file of the gossip matrix of nodes, or of several that take turns, all n×n, rows and columns in the
// order of nodes.csv:
//
//	W.npy   of up to 2048² numbers: n×n, or of several layers×n×n
//	W.mtx   MatrixMarket, coordinates: n×n, or of several block diagonal, one block after the other
//
// Matrices of more than MaxGossipEntries nonzero entries are not written.
func Gossip(matrices []*graph.CSR) (f File, written bool) {
	n, _ := matrices[0].Dims()
	entries := 0
	for _, w := range matrices {
		entries += w.NNZ()
	}
	switch {
	case entries > MaxGossipEntries:
		return File{}, false
	case float64(n)*float64(n)*float64(len(matrices)) > denseGossip:
		return File{gossipMTX, func(w io.Writer) error { return graph.WriteMatrixMarket(w, graph.Blocks(matrices)) }}, true
	case len(matrices) == 1:
		return NPY(gossipNPY, matrices[0]), true
	}
	return NPYStack(gossipNPY, len(matrices), n, func(i int) (mat.Matrix, error) { return matrices[i], nil }), true
}

// HasGossip reports whether the manifest lists a file of gossip matrices.
func (m *Manifest) HasGossip() bool { return m.Files[gossipNPY] != "" || m.Files[gossipMTX] != "" }

// TooLargeForGossip reports whether the gossip matrix was left out of the files that are listed, for its size.
func (m *Manifest) TooLargeForGossip() bool {
	return m.Graph != nil && m.Files != nil && !m.HasGossip() && m.WorkloadSpec.RandomNeighbours == 0
}

// networks returns how many matrices there are to be.
func (m *Manifest) networks() int {
	if m.WorkloadSpec.GraphSequence != nil {
		return m.WorkloadSpec.GraphSequence.Networks
	}
	return 1
}

// Gossip reads the gossip matrix of an export, or the several that take turns; nil if it has none, as exports of very
// large networks. The file is read now. It fails if the file's SHA-256 is not in the
// manifest, for matrices of another number of nodes than the manifest says, and with graph.ErrGossip.
func (e *Export) Gossip() ([]*graph.CSR, error) {
	m := e.Manifest
	name := gossipNPY
	if m.Files[name] == "" {
		name = gossipMTX
	}
	sum := m.Files[name]
	if sum == "" || m.Graph == nil {
		return nil, nil
	}
	path := filepath.Join(e.Dir, name)
	content, err := files.Read(path, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if hash := sha256.Sum256(content); hex.EncodeToString(hash[:]) != sum {
		return nil, fmt.Errorf("%s is not the file of the manifest", path)
	}
	var all []*graph.CSR
	if name == gossipNPY {
		all, err = gossipLayers(content)
	} else {
		all, err = gossipBlocks(content, path, m.networks())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, w := range all {
		if n, _ := w.Dims(); n != m.Graph.Nodes || len(all) != m.networks() {
			return nil, fmt.Errorf("%s: %d matrices of %d nodes, where the manifest has %d of %d", path, len(all), n,
				m.networks(), m.Graph.Nodes)
		}
		if err := graph.CheckGossip(w); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// gossipLayers reads W.npy.
func gossipLayers(content []byte) ([]*graph.CSR, error) {
	a, err := npy.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	shape := a.Shape
	if len(shape) == 2 {
		shape = append([]int{1}, shape...)
	}
	if len(shape) != 3 || shape[0] < 1 || shape[1] < 1 || shape[1] != shape[2] {
		return nil, fmt.Errorf("%w: its shape is %v", graph.ErrGossip, a.Shape)
	}
	n := shape[1]
	all := make([]*graph.CSR, shape[0])
	for i := range all {
		all[i] = graph.NewCSRFromDense(mat.NewDense(n, n, a.Data[i*n*n:(i+1)*n*n]))
	}
	return all, nil
}

// gossipBlocks reads W.mtx.
func gossipBlocks(content []byte, path string, count int) ([]*graph.CSR, error) {
	w, err := graph.ReadMatrixMarket(bytes.NewReader(content), path)
	if err != nil {
		return nil, err
	}
	return w.Split(count)
}
