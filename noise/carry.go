package noise

import (
	"errors"
	"io"
	"math"
	"sync/atomic"

	"mafalda/internal/parallel"
)

// Skip makes the noise of the next step, for a step whose message is certainly never sent, and adds it to the row of
// the step after it, which then holds both: the errors that rows are made to cancel are otherwise left standing.
// Several steps in a row are skipped one by one. The sum starts with the oldest row. After the last step there is no
// row to add to, and what was skipped is gone. It fails as Next does.
//
// That is post-processing of the same noise with a gradient of zero in the step that is missed: the guarantee stays, if
// not a byte of the message has left, and if missing the step has nothing to do with the data. Otherwise it does not: a
// row that was seen once and is carried too can double sens².
func (s *Stream) Skip() error {
	rows := s.carried + 1
	if err := s.Next(s.room()); err != nil {
		return err
	}
	s.hold(rows)
	return nil
}

// Carried returns how many rows of skipped steps the next one will have in it.
func (s *Stream) Carried() int { return s.carried }

// hold makes s.row, the sum of a number of rows, what the next one carries.
func (s *Stream) hold(rows int) {
	s.row, s.carry = s.carry, s.row
	s.carried = rows
}

// addCarry adds what is carried to a row, and reports whether the sums fit their numbers.
func (s *Stream) addCarry(dst []float64) bool {
	if s.carried == 0 {
		return true
	}
	limit := math.MaxFloat64
	if s.grid > 0 {
		limit = 0x1p53 * s.grid
	}
	var spoiled atomic.Bool
	parallel.For((s.dim+chunk-1)/chunk, func(c int) {
		end, fits := min((c+1)*chunk, s.dim), true
		for i := c * chunk; i < end; i++ {
			dst[i] += s.carry[i]
			fits = fits && math.Abs(dst[i]) <= limit
		}
		if !fits {
			spoiled.Store(true)
		}
	})
	s.carried = 0
	return !spoiled.Load()
}

// replay makes the rows before a place again, and what they leave: the sum that the next row carries, or, where the
// last row may be asked for again, that row.
func (s *Stream) replay(p place) error {
	together := p.Unsent
	first := p.Issued - together
	if p.Again {
		together = p.Carried
		first = p.Issued - 1 - together
	}
	if err := s.skip(first); err != nil {
		return err
	}
	for range together {
		if err := s.Skip(); err != nil {
			return err
		}
	}
	if p.Again {
		return s.Next(s.room())
	}
	return nil
}

// valid reports whether a place can be one.
func (p place) valid() bool {
	if p.End < 0 || p.Issued < 0 || p.Unsent < 0 || p.Unsent > p.Issued || p.Carried < 0 {
		return false
	}
	if p.Again {
		return p.Unsent == 0 && p.Carried < p.Issued
	}
	return p.Carried == 0
}

// advance returns the place after count rows went out, of which none may be asked for again.
func (p place) advance(count int) place {
	if count > 0 {
		p.Issued += count
		p.Open = true
		p.Again, p.Carried, p.Unsent, p.Sending = false, 0, 0, ""
	}
	return p
}

// Skip is Stream's, and on disk before it returns: the step is then missed for ever. After an error other than io.EOF
// the stream hands out nothing more.
func (d *Durable) Skip() error {
	if d.err != nil {
		return d.err
	}
	if err := d.endIfFailed(d.Stream.Skip()); err != nil {
		return err
	}
	p := d.state.place.advance(1)
	p.Unsent = d.carried
	return d.note(p)
}

// endIfFailed ends the stream if drawing failed: what was in its row before is gone.
func (d *Durable) endIfFailed(err error) error {
	if err != nil && err != io.EOF && !errors.Is(err, ErrBudget) {
		d.err = err
	}
	return err
}

// check ends the stream unless the state is still the file that was opened, and as it was written last.
func (d *Durable) check() error {
	err := d.state.check()
	if err == nil && d.counter != nil {
		err = d.counter.check()
	}
	d.err = err
	return err
}

// note brings a place to the disk, or ends the stream.
func (d *Durable) note(p place) error {
	if err := d.check(); err != nil {
		return err
	}
	d.err = d.writePlace(p)
	return d.err
}
