package noise

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"mafalda/internal/files"
	"mafalda/noise/keys"
)

// disk is where a stream keeps its place, so that it survives a crash. The state file holds the key, so it is as secret as the
// gradients, and how many rows have been handed out. The file is on disk before a row is: a node that crashes may lose a row,
// but the noise of a step never goes out twice, for two different gradients. Opened again, the stream goes on with the row
// after the last one handed out, the same that an uninterrupted run would have had.
//
// Before every row it looks whether the state is still the file that was opened, and holds what was written last. If it
// was deleted, replaced, or written to by another process, the stream ends.
type disk struct {
	state   *record
	counter *record       // nil: none
	meeting *keys.Meeting // meeting for a new state of shared noise
	began   int           // rows that were out when it was opened
	end     int           // the step whose row would pass the budget that it was opened with
	cut     bool          // how the run before ended
}

// State says where a stream keeps its place.
type State struct {
	// Path of the state file. Links are followed; only one process at a time can have it open, by whatever name.
	Path string
	// New starts with row 0 of a fresh key. The file must not exist; without New it must.
	New bool
	// Counter, if not empty, is a second file, on storage that is not copied or set back together with the state, which
	// also holds how many rows have been handed out. A state that is older than its counter is refused. The first use
	// makes the file, and from then on the state cannot be opened without it. An empty file in its place starts it
	// anew.
	Counter string
	// Row, if not nil, is the row that the caller expects; if the next one is another, opening fails. Where the counter
	// is ahead of the state, Row equal to the counter accepts that the rows in between are gone, and goes on behind
	// them.
	Row *int
	// Join is where a new state of noise that is shared gets the keys of its neighbours from. A state that is there has
	// them.
	Join *Join
}

// Errors about state files.
var (
	ErrState = errors.New("noise state cannot be used") // of another stream, in use, damaged, or changed by others
	ErrRow   = errors.New("another row is next")        // than State.Row
	ErrLost  = errors.New("rows are used up")           // that may not have come out
)

// OpenDurable is Open with the stream's place in a file: a new one, or where an earlier stream of the same export, node
// and options has left off. It fails
//   - as Open does, and with ErrState or ErrRow;
//   - with os.ErrExist or os.ErrNotExist where State.New does not fit;
//   - for shared noise, with ErrNeighbours without State.Join, and as package keys does.
func OpenDurable(dir, node string, dim int, at State, opts Options) (*Stream, error) {
	s, err := open(dir, node, dim, opts)
	if err != nil {
		return nil, err
	}
	s.disk = &disk{end: s.end}
	s.end = s.steps // rows before the place are made again, whatever the budget
	if at.New {
		err = s.start(at)
	} else {
		err = s.resume(at)
	}
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	if p := s.place(); p.End > 0 {
		s.end = p.End
	}
	return s, nil
}

// place returns what the state says.
func (s *Stream) place() place { return s.disk.state.place }

// start makes the state file; if that fails, or something else with it, no file is left.
func (s *Stream) start(at State) (err error) {
	if at.Row != nil && *at.Row != 0 {
		return fmt.Errorf("%w: row %d is wanted, a new state starts with row 0", ErrRow, *at.Row)
	}
	if s.share != nil && s.seed == nil {
		if err := s.join(at); err != nil {
			return err
		}
	}
	if s.disk.state, err = newRecord(at.Path, s.head(), place{Joining: s.disk.meeting != nil}); err != nil {
		return fmt.Errorf("starting a noise state: %w", err)
	}
	if err = s.take(at); err == nil {
		err = s.begin()
	}
	if err != nil {
		return errors.Join(err, os.Remove(at.Path)) // nothing was drawn from it
	}
	return nil
}

// resume opens the state file and makes the rows before its place again.
func (s *Stream) resume(at State) (err error) {
	s.disk.state, err = openRecord(at.Path)
	if errors.Is(err, files.ErrLocked) {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	if errors.Is(err, ErrState) {
		return err
	}
	if err != nil {
		return fmt.Errorf("opening the noise state: %w", err)
	}
	if err := s.adopt(); err != nil {
		return fmt.Errorf("%w: %s is %w", ErrState, at.Path, err)
	}
	if s.place().Joining {
		return fmt.Errorf("%w: %s was cut off before its run began: remove it and announce a new run", ErrState, at.Path)
	}
	if err := s.take(at); err != nil {
		return err
	}
	return s.replay(s.place())
}

// take compares with the counter and the row that is expected, and notes that this process has the state now.
func (s *Stream) take(at State) error {
	p := s.place()
	if err := s.openCounter(at, &p); err != nil {
		return err
	}
	if at.Row != nil && *at.Row != p.Issued {
		return fmt.Errorf("%w: row %d is wanted, row %d is next", ErrRow, *at.Row, p.Issued)
	}
	if err := s.takeEnd(&p); err != nil {
		return fmt.Errorf("%s: %w", at.Path, err)
	}
	s.disk.began, s.disk.cut = p.Issued, p.Open
	p.Start = rand.Text()
	return s.writePlace(p)
}

// takeEnd notes in the place where the rows end, if a budget was given. A budget that the state has is not raised: what
// was promised with it would not hold any more. A smaller one is refused where more is out already.
func (s *Stream) takeEnd(p *place) error {
	switch {
	case s.disk.end == s.steps: // no budget, or one that is not smaller than the plan's
	case p.End > 0 && s.disk.end > p.End:
		return fmt.Errorf("%w: it was opened with a smaller budget, which ends before row %d, not %d, and stays", ErrState,
			p.End, s.disk.end)
	default:
		p.End = s.disk.end
	}
	if sent := p.Issued - p.Unsent; p.End > 0 && sent > p.End {
		return fmt.Errorf("%w: %d rows are out, and the budget is for %d", ErrBudget, sent, p.End)
	}
	return nil
}

// writePlace writes the state, and then its counter: a crash in between leaves the state ahead, which loses rows and
// repeats none.
func (s *Stream) writePlace(p place) error {
	err := s.disk.state.writePlace(p)
	if err == nil && s.disk.counter != nil {
		err = s.disk.counter.writePlace(place{Issued: p.Issued, Start: p.Start, Sending: p.Sending, End: p.End})
	}
	return err
}

// CutOff reports whether the run before this one was cut off, so that its last rows may never have come out. They are
// used up all the same. A message of a step uses that step's row only: go on with row Step in step Step.
func (s *Stream) CutOff() bool { return s.disk != nil && s.disk.cut }

// check ends the stream unless the state is still the file that was opened, and as it was written last.
func (s *Stream) check() error {
	s.err = s.disk.state.check()
	if s.err == nil && s.disk.counter != nil {
		s.err = s.disk.counter.check()
	}
	return s.err
}

// note brings a place to the disk, or ends the stream.
func (s *Stream) note(p place) error {
	if s.check() == nil {
		s.err = s.writePlace(p)
	}
	return s.err
}

// issue notes on disk, if there is a state, that count rows go out, or ends the stream.
func (s *Stream) issue(count int) error {
	if s.disk == nil {
		return nil
	}
	return s.note(s.place().advance(count))
}

// Batch hands out rows together, and only when they are safe. First prepare draws them by next, up to count of them,
// and puts them where they are not used yet, as into a file of another name; then the state says on disk that they are
// out; then publish lets them be used. If prepare fails nothing has been handed out, and the same rows come again when
// the state is opened again. If publish fails the rows are used up (ErrLost). Either ends this stream. Without a state
// what publish does not get out is lost.
func (s *Stream) Batch(count int, prepare func(next func(dst []float64) error) error, publish func() error) error {
	if s.err != nil {
		return s.err
	}
	drawn, carried := 0, s.carried
	err := prepare(func(dst []float64) error {
		if drawn == count {
			return io.EOF
		}
		err := s.draw(dst)
		if err == nil {
			drawn++
		}
		return err
	})
	if s.err = cmp.Or(s.err, err); s.err != nil || s.issue(drawn) != nil { // a row that failed ends it, whatever prepare says
		return s.err
	}
	err = publish()
	if err == nil || s.disk == nil {
		return err
	}
	if errors.Is(err, errUntouched) && drawn == 1 {
		p := s.place()
		p.Unsent = carried + 1
		if s.note(p) == nil {
			s.err = err
			return err
		}
	}
	s.err = fmt.Errorf("%w: %w", err, ErrLost)
	return s.err
}

// Close lets go of the state file, if there is one, and notes that all rows came out unless there was an error.
func (s *Stream) Close() error {
	if s.disk == nil {
		return nil
	}
	var err error // others were returned before
	if p := s.place(); s.err == nil && p.Open && p.Issued > s.disk.began {
		if err = s.disk.state.check(); err == nil {
			p.Open = false
			err = s.writePlace(p)
		}
	}
	return errors.Join(err, s.release())
}

// release closes the files, which gives back their locks.
func (s *Stream) release() error {
	var err error
	for _, r := range []*record{s.disk.state, s.disk.counter} {
		if r != nil {
			err = errors.Join(err, r.file.Close())
		}
	}
	return err
}
