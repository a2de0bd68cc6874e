package noise

import (
	"math"
	"sync/atomic"

	"mafalda/internal/parallel"
)

// Skip makes the noise of the next step, for a step whose message is certainly never sent, and adds it to the row of
// the step after it, which then holds both: the errors that rows are made to cancel are otherwise left standing.
// Several steps in a row are skipped one by one. The sum starts with the oldest row. After the last step there is no
// row to add to, and what was skipped is gone. With a state the step is missed for ever: that is on disk before Skip returns.
// It fails as Next does.
//
// That is post-processing of the same noise with a gradient of zero in the step that is missed: the guarantee stays, if
// not a byte of the message has left, and if missing the step has nothing to do with the data. Otherwise it does not: a
// row that was seen once and is carried too can double sens².
func (s *Stream) Skip() error {
	if err := s.drawCarried(); err != nil || s.disk == nil {
		return err
	}
	p := s.place().advance(1)
	p.Unsent = s.carried
	return s.note(p)
}

// drawCarried draws the next row into what is carried, and notes nothing.
func (s *Stream) drawCarried() error {
	rows := s.carried + 1
	if err := s.draw(s.room()); err != nil {
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
		if err := s.drawCarried(); err != nil {
			return err
		}
	}
	if p.Again {
		return s.draw(s.room())
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
