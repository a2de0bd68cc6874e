package noise

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mafalda/export"
	"mafalda/factorize"
)

// Options says how a node draws its noise.
type Options struct {
	// Seed makes the noise reproducible and so worthless for privacy; nil draws a key from the operating system.
	Seed *uint64
	// NoiseStd is the standard deviation of Z: clip/μ for sums of clipped gradients. 0 takes the one in the manifest.
	NoiseStd float64
	// Regenerate makes earlier rows of Z again instead of keeping them, for dense strategies: one row in memory instead of T,
	// and t rows of work in step t.
	Regenerate bool
	// Grid, if positive, rounds every number to a multiple of it.
	Grid float64
}

// Stream is the noise of one node: row after row of C⁻¹Z. It is for one goroutine.
type Stream struct {
	node  string
	key   Key
	dim   int
	steps int
	std   float64
	grid  float64
	seed  bool
	mix   mixer
	next  int // the next step
	z     []float64
	row   []float64
}

// ErrExport is wrapped by errors about an export that must not be used.
var ErrExport = errors.New("export cannot be used")

// Open reads an export and returns the noise of one node, named by its label, for a model of dim parameters. It checks every
// hash, and that the sensitivity of the strategy, computed again, is what the manifest says: noise for a larger one would
// protect less than claimed. The error cases are ErrExport, a label that is not in nodes.csv, and a missing noise level.
func Open(dir, node string, dim int, opts Options) (*Stream, error) {
	if dim < 1 {
		return nil, fmt.Errorf("noise for %d parameters", dim)
	}
	e, err := export.Load(dir)
	if err != nil {
		return nil, err
	}
	c, err := strategyOf(e, node)
	if err != nil {
		return nil, err
	}
	std := opts.NoiseStd
	if std == 0 && e.Manifest.Privacy != nil {
		std = e.Manifest.Privacy.NoiseStd
	}
	if !(std > 0) || math.IsInf(std, 1) {
		return nil, fmt.Errorf("%s says no noise level (it was made without --mu or --epsilon), and none is given", dir)
	}
	if opts.Grid < 0 || opts.Grid-opts.Grid != 0 {
		return nil, fmt.Errorf("grid %v: must be positive and finite", opts.Grid)
	}
	key, err := NewKey()
	if opts.Seed != nil {
		key, err = SeededKey(*opts.Seed, node), nil
	}
	if err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	return newStream(c, node, key, dim, std, opts)
}

func newStream(c factorize.Strategy, node string, key Key, dim int, std float64, opts Options) (*Stream, error) {
	s := &Stream{node: node, key: key, dim: dim, steps: c.Steps(), std: std, grid: opts.Grid, seed: opts.Seed != nil,
		z: make([]float64, dim), row: make([]float64, dim)}
	var err error
	if s.mix, err = newMixer(c, dim, key.normals, opts.Regenerate); err != nil {
		return nil, fmt.Errorf("preparing the noise: %w", err)
	}
	return s, nil
}

// strategyOf returns the strategy of a node after all checks.
func strategyOf(e *export.Export, node string) (factorize.Strategy, error) {
	if err := e.CheckHashes(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	m := e.Manifest
	index, err := indexOf(e, node)
	if err != nil {
		return nil, err
	}
	layer, err := e.Node(index)
	if err != nil {
		return nil, err
	}
	c, err := m.Strategy.Build(m.Steps)
	if err == nil && c == nil {
		c, err = factorize.NewDense(layer.C)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	schema, err := m.Participation.Of(m.Steps)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	sens, err := factorize.Sensitivity(c, schema)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	if !(sens.Squared <= m.SensSquared*(1+1e-12)) {
		return nil, fmt.Errorf("%w: sens² is %v, the manifest says %v", ErrExport, sens.Squared, m.SensSquared)
	}
	return c, nil
}

// indexOf returns the index of a label in nodes.csv; 0 for exports without a network.
func indexOf(e *export.Export, node string) (int, error) {
	text, err := e.Read("nodes.csv")
	if err != nil {
		if e.Manifest.Graph == nil {
			return 0, nil
		}
		return 0, fmt.Errorf("%w: %w", ErrExport, err)
	}
	if rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll(); err == nil && len(rows) > 0 {
		if at := slices.IndexFunc(rows[1:], func(r []string) bool { return r[min(1, len(r)-1)] == node }); at >= 0 {
			return at, nil
		}
	}
	for i, line := range strings.Split(string(text), "\n") { // labels as the file quotes them, or does not
		fields := strings.Split(line, ",")
		if i > 0 && len(fields) >= 3 && strings.Join(fields[1:len(fields)-1], ",") == node {
			return i - 1, nil
		}
	}
	return 0, fmt.Errorf("nodes.csv has no node %q", node)
}

// Steps returns T.
func (s *Stream) Steps() int { return s.steps }

// Step returns the next step.
func (s *Stream) Step() int { return s.next }

// Dim returns the number of parameters.
func (s *Stream) Dim() int { return s.dim }

// Private reports whether the key is secret: false for seeded streams, which protect nothing.
func (s *Stream) Private() bool { return !s.seed }

// Floats returns how many numbers the stream keeps for each parameter, beside the two rows it works on.
func (s *Stream) Floats() int { return s.mix.floats() }

// Next writes the noise of the next step to dst, which has a number for each parameter: row t of C⁻¹Z, Z of the noise's
// standard deviation. After T steps it returns io.EOF. A row is handed out once: a node that has sent a message and crashed
// must go on with the next step.
func (s *Stream) Next(dst []float64) error {
	if err := s.advance(len(dst)); err != nil {
		return err
	}
	copy(dst, s.row)
	return nil
}

// NextFloat32 is Next for models of single precision: the numbers of Next, rounded.
func (s *Stream) NextFloat32(dst []float32) error {
	if err := s.advance(len(dst)); err != nil {
		return err
	}
	for i, v := range s.row {
		dst[i] = float32(v)
	}
	return nil
}

func (s *Stream) advance(length int) error {
	if length != s.dim {
		return fmt.Errorf("a row of %d numbers for %d parameters", length, s.dim)
	}
	if s.next == s.steps {
		return io.EOF
	}
	s.key.normals(s.z, s.next)
	s.mix.next(s.row, s.z, s.next)
	s.next++
	for i, v := range s.row { // mixers keep copies of rows, so this one may be changed
		v *= s.std
		if s.grid > 0 {
			v = math.RoundToEven(v/s.grid) * s.grid
		}
		s.row[i] = v
	}
	return nil
}

// skip makes the rows before step again, without handing them out, so that the mixer is where it was.
func (s *Stream) skip(step int) error {
	for s.next < step {
		if err := s.advance(s.dim); err != nil {
			return err
		}
	}
	return nil
}
