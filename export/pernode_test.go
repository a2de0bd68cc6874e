package export

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// stack is a file of count lower-triangular 2×2 layers, the i-th with i+1 on its diagonal.
func stack(name string, count int) File {
	return NPYStack(name, count, 2, func(i int) (mat.Matrix, error) {
		return mat.NewTriDense(2, mat.Lower, []float64{float64(i + 1), 0, 5, float64(i + 1)}), nil
	})
}

func nodeManifest(layers ...int) *Manifest {
	m := manifest(2)
	m.PerNode = &PerNode{Distinct: 2, Layers: append([]int{}, layers...), Losses: make([]float64, len(layers))}
	return m
}

func TestLayersComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, nodeManifest(1, 0, 1), []File{stack("C.npy", 2), stack("C_inv.npy", 2)}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e, err := Load(dir)
	if err != nil || e.C != nil || len(e.Layers) != 2 || !slices.Equal(e.Manifest.PerNode.Layers, []int{1, 0, 1}) {
		t.Fatalf("%+v, %v", e, err)
	}
	for node, want := range []float64{2, 1, 2} {
		l, err := e.Node(node)
		if err != nil || l.C.At(0, 0) != want || l.Inverse.At(1, 0) != 5 {
			t.Errorf("node %d: %v, %v", node, l, err)
		}
	}
	for _, node := range []int{-1, 3} {
		if _, err := e.Node(node); err == nil {
			t.Errorf("node %d of 3 has a strategy", node)
		}
	}
}

func TestLayersThatDoNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		manifest   *Manifest
		c, inverse int
		say        string
	}{
		"too few":            {nodeManifest(0, 2), 2, 2, "2 strategies and 2 inverses, but the nodes use 3"},
		"inverses missing":   {nodeManifest(0, 1), 2, 1, "2 strategies and 1 inverses"},
		"none":               {nodeManifest(), 2, 2, "no layers"},
		"negative":           {nodeManifest(0, -1), 2, 2, "negative"},
		"not for the nodes":  {manifest(2), 2, 2, "shape [2 2 2]"},
		"of no strategy":     {nodeManifest(0), 0, 0, "shape [0 2 2]"},
		"of no strategy yet": {nodeManifest(0), 1, 0, "shape [0 2 2]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			err := WriteDir(dir, tc.manifest, []File{stack("C.npy", tc.c), stack("C_inv.npy", tc.inverse)}, WriteOptions{})
			if err == nil {
				_, err = Load(dir)
			}
			if err == nil || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}
		})
	}
}

// A layer that cannot be made, or that is not finite, leaves no export.
func TestLayersThatFail(t *testing.T) {
	failure := errors.New("no such layer")
	for name, layer := range map[string]func(i int) (mat.Matrix, error){
		"error": func(int) (mat.Matrix, error) { return nil, failure },
		"NaN":   func(i int) (mat.Matrix, error) { return mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}), nil },
	} {
		dir := filepath.Join(t.TempDir(), "out")
		err := WriteDir(dir, nodeManifest(0), []File{NPYStack("C.npy", 1, 2, layer)}, WriteOptions{})
		if _, there := os.Stat(dir); err == nil || there == nil || !strings.Contains(err.Error(), "layer 0") {
			t.Errorf("%s: %v, folder: %v", name, err, there)
		}
	}
}
