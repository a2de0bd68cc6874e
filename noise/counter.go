package noise

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"mafalda/internal/files"
)

// counterHead is what never changes in a counter file.
type counterHead struct {
	Format string `json:"format"`
	State  string `json:"state"` // a hash of the key: it tells whose counter this is, and no more
}

const counterFormat = "mafalda noise counter 1"

// openCounter opens the counter that goes with the state, and compares it with p, the place of the state.
func (s *Stream) openCounter(at State, p *place) error {
	if at.Counter == "" {
		if p.Counter {
			return fmt.Errorf("%w: %s has a counter beside it: name that too", ErrState, at.Path)
		}
		return nil
	}
	head, err := s.counterHead()
	if err != nil {
		return err
	}
	if s.disk.counter, err = startOrOpen(at.Counter, head, *p); err != nil {
		if errors.Is(err, files.ErrLocked) || errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrState, err)
		}
		return fmt.Errorf("opening the counter: %w", err)
	}
	if !slices.Equal(s.disk.counter.head, head) {
		return fmt.Errorf("%w: %s is the counter of another", ErrState, at.Counter)
	}
	p.Counter = true
	if end := s.disk.counter.place.End; end > 0 && (p.End == 0 || end < p.End) { // a copy from before there was a budget
		p.End = end
	}
	switch ahead := s.disk.counter.place.Issued; {
	case ahead == p.Issued && s.disk.counter.place.Sending != "":
		p.Sending = s.disk.counter.place.Sending // a copy that is older than the message, or as it was
	case ahead <= p.Issued: // as it was, or a crash came between the two files
	case at.Row != nil && *at.Row == ahead && ahead <= s.steps: // no reader has had the rows from here on
		p.Issued, p.Again, p.Carried, p.Sending, p.Unsent = ahead, false, 0, "", 0
	default:
		return fmt.Errorf("%w: %s is an old copy: it says that %d rows are out, its counter %d, and noise that goes "+
			"out twice protects nothing; row %d is the first that nobody has had", ErrState, at.Path, p.Issued, ahead,
			ahead)
	}
	return nil
}

func (s *Stream) counterHead() ([]byte, error) {
	hash := sha256.New()
	hash.Write([]byte(counterFormat))
	hash.Write(s.key.secret()[:])
	return json.Marshal(counterHead{counterFormat, hex.EncodeToString(hash.Sum(nil)[:16])})
}

// startOrOpen opens a counter, or makes one if the state has none yet. An empty file becomes one.
func startOrOpen(path string, head []byte, p place) (*record, error) {
	at := place{Issued: p.Issued}
	f, size, err := files.Update(path)
	if errors.Is(err, os.ErrNotExist) && !p.Counter {
		return newRecord(path, json.RawMessage(head), at)
	}
	if err != nil {
		return nil, err
	}
	if size > 0 {
		if err := f.Close(); err != nil {
			return nil, err
		}
		return openRecord(path)
	}
	r, err := initRecord(path, f, json.RawMessage(head), at)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}
