package noise

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"mafalda/export"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/internal/rows"
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
	// Limit is the node's own privacy budget, smaller than the plan's: the row that would pass it is not drawn (ErrBudget).
	// A state keeps it. nil: the plan's.
	Limit *Limit
}

// Stream is the noise of one node: row after row of C⁻¹Z, where Z is its own, and, in exports whose nodes share noise,
// its part of the sums of own and shared rows. It is for one goroutine. OpenDurable keeps its place in a file.
type Stream struct {
	node   string
	export string // SHA-256 of the manifest
	key    Key
	dim    int
	steps  int
	std    float64
	grid   float64
	seed   *uint64 // seed of the noise; nil: a secret key
	share  *share  // nil: no noise is shared
	mix    *mixer
	rooms  *sync.Pool
	next   int       // the next step
	row    []float64 // room for a row that is not handed out as it is; nil until there is one
	disk   *disk     // where the place is kept; nil: nowhere
	err    error     // why there are no more rows
	limit  Limit     // limit that the stream was opened with; zero: none
	end    int       // the step whose row would pass the node's budget; T if none would

	manifest *export.Manifest // nil: the strategy is in memory
	privacy  *export.Privacy  // the node's level
	strategy strategy.Strategy

	carry   []float64 // the sum of rows of skipped steps
	carried int       // number of skipped rows in carry, which the next row will have in it
}

// ErrNumbers is wrapped by errors about noise that floating point cannot hold.
var ErrNumbers = errors.New("noise does not fit its numbers")

// ErrNeighbours is wrapped by the errors about noise that a node shares with its neighbours, and cannot draw without
// them.
var ErrNeighbours = errors.New("the node shares noise with its neighbours")

// Open reads an export and returns the noise of one node, named by its label, for a model of dim parameters. It checks
// every hash, that the sensitivity of the strategy, computed again, is what the manifest says, and that its noise level
// follows from its μ: otherwise the noise would protect less than claimed. So would the noise of a dense C whose computed
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
		err = checkWorst(s.share.export)
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
	e, err := load(dir)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(e, node)
	if err != nil {
		return nil, err
	}
	c, err := strategyAt(e, index)
	if err != nil {
		return nil, err
	}
	privacy := e.Manifest.PrivacyOf(index)
	if opts.NoiseStd, err = level(privacy, opts); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	s, err := newStream(c, node, dim, opts)
	if err != nil {
		return nil, err
	}
	s.export, s.manifest, s.privacy, s.strategy = e.SHA256, e.Manifest, privacy, c
	if err := s.stopAt(opts.Limit); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if e.Shared != nil {
		s.share = newShare(e, index)
		if s.seed != nil {
			s.share.setSeed(*s.seed, node)
		}
	}
	return s, nil
}

// newStream returns the noise of a node for a strategy, with options that say its level.
func newStream(c strategy.Strategy, node string, dim int, opts Options) (*Stream, error) {
	s := &Stream{node: node, dim: dim, steps: c.Steps(), end: c.Steps(), std: opts.NoiseStd,
		grid: opts.Grid, rooms: &sync.Pool{New: func() any { return new(room) }}}
	if opts.Seed != nil {
		s.seed, s.key = new(*opts.Seed), SeededKey(*opts.Seed, node)
	} else {
		s.key = NewKey()
	}
	var err error
	if s.mix, err = newMixer(c, dim, s.normals, opts.Regenerate); err != nil {
		return nil, fmt.Errorf("preparing the noise: %w", err)
	}
	return s, nil
}

// Node returns the label of the node.
func (s *Stream) Node() string { return s.node }

// Steps returns the number of steps, T.
func (s *Stream) Steps() int { return s.steps }

// Step returns the next step.
func (s *Stream) Step() int { return s.next }

// Dim returns the number of parameters.
func (s *Stream) Dim() int { return s.dim }

// Private reports whether the noise protects. Noise from a seed, which everybody knows, does not, nor do the rows of a
// check, which are shared rows alone.
func (s *Stream) Private() bool { return s.seed == nil && !s.Check() }

// Check reports whether the rows belong to a run that checks the keys of neighbours.
func (s *Stream) Check() bool { return s.share != nil && s.share.check }

// Neighbours returns the labels of the nodes that the noise is shared with.
func (s *Stream) Neighbours() []string {
	if s.share == nil {
		return nil
	}
	return lists.Map(s.share.neighbours, func(n shared) string { return n.label })
}

// Condition says how batches have to be drawn in secret for the noise to be as private as its export says. It is empty
// for exports that are private for batches that anybody may know.
func (s *Stream) Condition() string {
	if s.manifest == nil || !s.manifest.Sampled() {
		return ""
	}
	return s.manifest.Sampling.Condition()
}

// NoiseStd returns the standard deviation of Z.
func (s *Stream) NoiseStd() float64 { return s.std }

// Grid returns what numbers are multiples of; 0 if of none.
func (s *Stream) Grid() float64 { return s.grid }

// Export returns the SHA-256 of the manifest the noise is from, in lower-case hexadecimal.
func (s *Stream) Export() string { return s.export }

// normals fills the room with chunk c of row t of Z, n numbers: standard normal ones, or the sum of own and shared ones.
func (s *Stream) normals(r *room, t, c, n int) {
	if s.share != nil {
		s.share.draw(r, s.key, t, c, n)
		return
	}
	s.key.draw(r, t, c, n)
}

func (s *Stream) lengthError(length int) error {
	return fmt.Errorf("a row of %d numbers for %d parameters", length, s.dim)
}

// room returns s.row, which it makes if that is nil.
func (s *Stream) room() []float64 {
	if s.row == nil {
		s.row = rows.Make(s.dim)
	}
	return s.row
}

// Next writes the noise of the next step to dst, which has a number for each parameter: row t of C⁻¹Z, Z of the noise's
// standard deviation. After T steps it returns io.EOF, and before a row that would pass the node's budget ErrBudget. A
// row is handed out once, after the state, if there is one, is on disk: a node that has sent a message and crashed must go on
// with the next step. Rows that are not finite are ErrNumbers, and dst is then zero if there is no state. After that, or what
// the state fails with, the stream hands out nothing more.
func (s *Stream) Next(dst []float64) error {
	if s.disk == nil || len(dst) != s.dim {
		return s.draw(dst)
	}
	if err := s.draw(s.room()); err != nil {
		return err
	}
	if err := s.issue(1); err != nil {
		return err
	}
	copy(dst, s.row)
	return nil
}

// draw makes the next row, and notes nothing.
func (s *Stream) draw(dst []float64) error {
	if len(dst) != s.dim {
		return s.lengthError(len(dst))
	}
	if s.err != nil {
		return s.err
	}
	if s.next == s.steps {
		return io.EOF
	}
	if s.next >= s.end {
		return s.endError()
	}
	var spoiled atomic.Bool
	level := func(dst, part []float64) {
		if !s.levelTo(dst, part) {
			spoiled.Store(true)
		}
	}
	s.eachChunk(func(r *room, c int) {
		s.mix.chunkTo(dst[c*chunk:min((c+1)*chunk, s.dim)], r, s.next, c, level)
		rows.Settle()
	})
	if spoiled.Load() || !s.addCarry(dst) {
		clear(dst)
		s.err = fmt.Errorf("%w: row %d is not finite, or has too many digits for the grid", ErrNumbers, s.next)
		return s.err
	}
	s.next++
	return nil
}

// levelTo brings a part of a row to the standard deviation, and the grid, and to dst. It reports whether it fits its
// numbers.
func (s *Stream) levelTo(dst, part []float64) bool {
	std, fits := s.std, true
	if s.grid > 0 {
		std, fits = 1, rows.LevelOnGrid(part, s.std, s.grid)
	}
	return rows.LevelTo(dst, std, part, s.dim >= large) && fits
}

// large is how many numbers of a row make it not worth to be in a cache.
const large = 1 << 22

// skip goes on to a step, without the rows before it, so that the mixer is where it was.
func (s *Stream) skip(step int) error {
	for s.next < step {
		if s.mix.recombine != nil {
			s.pass()
		} else if err := s.draw(s.room()); err != nil {
			return err
		}
	}
	return nil
}

// pass keeps the next row of Z, which is all that the rows after it need.
func (s *Stream) pass() {
	if !s.mix.regenerate {
		s.eachChunk(func(r *room, c int) { s.mix.keepChunk(r, s.next, c, min(chunk, s.dim-c*chunk)) })
	}
	s.next++
}

// eachChunk calls f for every chunk of a row, on all processors, with room of its own.
func (s *Stream) eachChunk(f func(r *room, c int)) {
	parallel.For((s.dim+chunk-1)/chunk, func(c int) {
		r := s.rooms.Get().(*room)
		defer s.rooms.Put(r)
		f(r, c)
	})
}
