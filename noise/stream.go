package noise

import (
	"errors"
	"fmt"
	"io"
	"math"

	"mafalda/export"
	"mafalda/strategy"
)

// Options says how a node draws its noise.
type Options struct {
	// Seed makes the noise reproducible and so worthless for privacy; nil draws a key from the operating system.
	Seed *uint64
	// NoiseStd is the standard deviation of Z for sums of clipped gradients: contribution/μ, where the contribution is
	// how far one record can move the sum: clip/μ under zero-out adjacency, 2·clip/μ under replace-one. 0 takes the one
	// in the manifest; a smaller one than that is refused, for the manifest promises a μ.
	NoiseStd float64
	// Regenerate makes earlier rows of Z again instead of keeping them, for dense strategies: one row in memory instead
	// of T, and t rows of work in step t.
	Regenerate bool
	// Grid, if not 0, rounds every number to a multiple of it: a power of two, at most an eighth of the standard
	// deviation and at least 2⁻⁴⁰ of it. The gradients must be on the same grid (see the package's documentation).
	Grid float64
}

// Stream is the noise of one node: row after row of C⁻¹Z, where Z is its own, and, in exports whose nodes share noise,
// its part of the sums of own and shared rows. It is for one goroutine.
type Stream struct {
	node   string
	export string           // SHA-256 of the manifest
	drawn  *export.Sampling // how batches are drawn in secret; nil where they are not
	key    Key
	dim    int
	steps  int
	std    float64
	grid   float64
	seed   *uint64 // what it is made of; nil: a secret key
	share  *share  // nil: no noise is shared
	mix    *mixer
	next   int // the next step
	z      []float64
	row    []float64
	err    error // why there are no more rows
}

// ErrNumbers is wrapped by errors about noise that floating point cannot hold.
var ErrNumbers = errors.New("noise does not fit its numbers")

// ErrNeighbours is wrapped by the errors about noise that a node shares with its neighbours, and cannot draw without
// them.
var ErrNeighbours = errors.New("the node shares noise with its neighbours")

// Open reads an export and returns the noise of one node, named by its label, for a model of dim parameters. It checks
// every hash, that the sensitivity of the strategy, computed again, is what the manifest says, and that its noise level
// follows from its μ: otherwise the noise would protect less than claimed. So would that of a dense C whose computed
// inverse is another matrix, which is refused, too. The error cases are ErrExport, a label that
// is not in nodes.csv, a noise level or a grid that is missing, too low or out of range, and ErrNeighbours: without a
// seed, noise that is shared needs a run, which only OpenDurable has.
func Open(dir, node string, dim int, opts Options) (*Stream, error) {
	s, err := open(dir, node, dim, opts)
	switch {
	case err != nil || s.share == nil || s.seed != nil:
	case len(s.share.neighbours) > 0:
		err = fmt.Errorf("%w: that needs their keys, and a state", ErrNeighbours)
	default:
		err = s.share.checkWorst()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open is Open, with the keys of shared noise still to come if there is no seed.
func open(dir, node string, dim int, opts Options) (*Stream, error) {
	if dim < 1 {
		return nil, fmt.Errorf("noise for %d parameters", dim)
	}
	e, hash, err := load(dir)
	if err != nil {
		return nil, err
	}
	c, err := strategyOf(e, node)
	if err != nil {
		return nil, err
	}
	std, err := level(e.Manifest, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	key, err := NewKey()
	if opts.Seed != nil {
		key, err = SeededKey(*opts.Seed, node), nil
	}
	if err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	s, err := newStream(c, gaussian{node, key, std}, dim, opts)
	if err != nil {
		return nil, err
	}
	s.export = hash
	if e.Manifest.Sampled() {
		s.drawn = e.Manifest.Sampling
	}
	if e.Shared != nil {
		index, err := indexOf(e, node)
		if err != nil {
			return nil, err
		}
		s.share = newShare(e, index, dim)
		if s.seed != nil {
			s.share.seeded(*s.seed, node)
		}
	}
	return s, nil
}

// gaussian is Z of a node: what it is drawn with.
type gaussian struct {
	node string
	key  Key
	std  float64
}

func newStream(c strategy.Strategy, z gaussian, dim int, opts Options) (*Stream, error) {
	s := &Stream{node: z.node, key: z.key, dim: dim, steps: c.Steps(), std: z.std,
		grid: opts.Grid, z: make([]float64, dim), row: make([]float64, dim)}
	if opts.Seed != nil {
		seed := *opts.Seed
		s.seed = &seed
	}
	var err error
	if s.mix, err = newMixer(c, dim, s.drawTo, opts.Regenerate); err != nil {
		return nil, fmt.Errorf("preparing the noise: %w", err)
	}
	return s, nil
}

// Steps returns T.
func (s *Stream) Steps() int { return s.steps }

// Step returns the next step.
func (s *Stream) Step() int { return s.next }

// Dim returns the number of parameters.
func (s *Stream) Dim() int { return s.dim }

// Private reports whether the noise protects: not that of a seed, which everybody knows, and not the rows of a check,
// which are the shared ones alone.
func (s *Stream) Private() bool { return s.seed == nil && !s.Check() }

// Check reports whether the rows are those of a run to check the keys of neighbours.
func (s *Stream) Check() bool { return s.share != nil && s.share.check }

// Neighbours returns the labels of the nodes that the noise is shared with.
func (s *Stream) Neighbours() []string {
	if s.share == nil {
		return nil
	}
	return s.share.labels()
}

// Condition says how batches have to be drawn in secret for the noise to be as private as its export says. It is empty
// for exports that are private for batches that anybody may know.
func (s *Stream) Condition() string {
	if s.drawn == nil {
		return ""
	}
	return s.drawn.Condition()
}

// NoiseStd returns the standard deviation of Z.
func (s *Stream) NoiseStd() float64 { return s.std }

// Export returns the SHA-256 of the manifest the noise is from, in lower-case hexadecimal.
func (s *Stream) Export() string { return s.export }

// Floats returns how many numbers the stream keeps for each parameter, beside the two rows it works on.
func (s *Stream) Floats() int { return s.mix.floats() }

// Next writes the noise of the next step to dst, which has a number for each parameter: row t of C⁻¹Z, Z of the noise's
// standard deviation. After T steps it returns io.EOF. A row is handed out once: a node that has sent a message and
// crashed must go on with the next step. Rows that are not finite are ErrNumbers, and the end of the stream.
func (s *Stream) Next(dst []float64) error {
	if err := s.advance(len(dst)); err != nil {
		return err
	}
	copy(dst, s.row)
	return nil
}

// NextFloat32 is Next for models of single precision: the numbers of Next, rounded, if they fit (see Single).
func (s *Stream) NextFloat32(dst []float32) error {
	if err := s.advance(len(dst)); err != nil {
		return err
	}
	return s.Single(dst, s.row)
}

// Single rounds numbers of a row to single precision. It is ErrNumbers, and dst is as it was, if the standard deviation
// or a number does not fit that, or if a grid would be left.
func (s *Stream) Single(dst []float32, row []float64) error {
	if err := s.fitsSingle(row); err != nil {
		return err
	}
	toSingle(dst, row)
	return nil
}

func toSingle(dst []float32, row []float64) {
	for i, v := range row {
		dst[i] = float32(v)
	}
}

func (s *Stream) fitsSingle(row []float64) error {
	if s.std < 0x1p-80 || s.std > 0x1p100 {
		return fmt.Errorf("%w: of single precision, with the standard deviation %v", ErrNumbers, s.std)
	}
	for _, v := range row {
		single := float64(float32(v))
		if math.IsInf(single, 0) || s.grid > 0 && single != v {
			return fmt.Errorf("%w: %v in single precision, on the grid %v", ErrNumbers, v, s.grid)
		}
	}
	return nil
}

// drawTo writes row t of Z to dst: standard normal numbers, or the sum of own and shared ones.
func (s *Stream) drawTo(dst []float64, t int) {
	if s.share != nil {
		s.share.drawTo(dst, s.key, t)
		return
	}
	s.key.normals(dst, t)
}

func (s *Stream) advance(length int) error {
	if length != s.dim {
		return fmt.Errorf("a row of %d numbers for %d parameters", length, s.dim)
	}
	if s.err != nil {
		return s.err
	}
	if s.next == s.steps {
		return io.EOF
	}
	s.drawTo(s.z, s.next)
	s.mix.next(s.row, s.z, s.next)
	for i, v := range s.row { // mixers keep copies of rows, so this one may be changed
		v *= s.std
		if s.grid > 0 {
			v = s.round(v)
		}
		if v-v != 0 {
			s.err = fmt.Errorf("%w: row %d is not finite, or has too many digits for the grid", ErrNumbers, s.next)
			return s.err
		}
		s.row[i] = v
	}
	s.next++
	return nil
}

// round returns the nearest multiple of the grid, or NaN if neighbours of v are farther apart than that.
func (s *Stream) round(v float64) float64 {
	n := v / s.grid // exact, the grid is a power of two
	if math.Abs(n) >= 1<<53 {
		return math.NaN()
	}
	return math.RoundToEven(n) * s.grid
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
