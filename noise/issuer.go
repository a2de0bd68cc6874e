package noise

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Issuer hands out the row of a step that is named, and the same row again until the next one is asked for: to a node
// that has crashed, or to the parts of one that share a model. Its state (see OpenDurable) has what that takes: after a
// crash the row is the same, bit for bit, also if it holds rows of steps before. It is for one goroutine.
//
// A row protects one gradient. Who asks for it again sends the same message again, or has certainly not sent one; a
// node that cannot know declares what it is about to send (Sending), and is then held to it.
type Issuer struct {
	stream *Stream // stream whose last row may be asked for again
}

// Errors of steps and messages.
var (
	ErrOrder = errors.New("not the step that is due")
	ErrSent  = errors.New("its message may have been sent")
)

// Standing says which steps may be named. Next is the step whose row comes next. Issued is the one before it, if its
// row may be asked for again, otherwise -1, and Sending the SHA-256 of the message that it was declared for, or empty.
// The next row will have the rows of Unsent in it.
type Standing struct {
	Next, Issued int
	Sending      string
	Unsent       []int
}

// OpenIssuer opens or starts a state. It fails as OpenDurable does.
func OpenIssuer(dir, node string, dim int, at State, opts Options) (*Issuer, error) {
	s, err := OpenDurable(dir, node, dim, at, opts)
	if err != nil {
		return nil, err
	}
	return &Issuer{s}, nil
}

// Stream describes the noise. It must not be drawn from.
func (i *Issuer) Stream() *Stream { return i.stream }

// Standing returns where the issuer is.
func (i *Issuer) Standing() Standing {
	p := i.stream.place()
	s := Standing{Next: p.Issued, Issued: -1, Sending: p.Sending}
	if p.Again {
		s.Issued = p.Issued - 1
	}
	for t := p.Issued - p.Unsent; t < p.Issued; t++ {
		s.Unsent = append(s.Unsent, t)
	}
	return s
}

// Row returns the row of step t, with the rows of the steps that were skipped right before it: the next one, which is
// then on disk as handed out, or the one that may be asked for again. It is good until the next call, and must not be
// changed. It fails with ErrOrder, with io.EOF after the last step, and as Stream.Next does.
func (i *Issuer) Row(t int) ([]float64, error) {
	s := i.stream
	p := s.place()
	switch {
	case s.err != nil:
		return nil, s.err
	case p.Again && t == p.Issued-1:
		if err := s.check(); err != nil { // another process may have this state now
			return nil, err
		}
		return s.row, nil
	case t != p.Issued:
		return nil, i.order(t)
	}
	carried := s.carried
	if err := s.draw(s.room()); err != nil {
		return nil, err
	}
	p = p.advance(1)
	p.Again, p.Carried = true, carried
	if err := s.note(p); err != nil {
		return nil, err
	}
	return s.row, nil
}

// Unsent declares that not a byte of the message of step t has left, nor ever will: its row is added to the next one
// that is handed out, and step t is refused from then on. That is for the step that is next, and for the one whose row
// may be asked for again, unless it was declared that its message is being sent (ErrSent). To repeat the last
// declaration changes nothing. Otherwise it fails as Row does.
func (i *Issuer) Unsent(t int) error {
	s := i.stream
	p := s.place()
	switch {
	case s.err != nil:
		return s.err
	case t == p.Issued-1 && p.Unsent > 0:
		return nil
	case t == p.Issued:
		return s.Skip()
	case t != p.Issued-1 || !p.Again:
		return i.order(t)
	case p.Sending != "":
		return fmt.Errorf("%w: step %d was declared as being sent", ErrSent, t)
	}
	rows := p.Carried + 1
	p.Again, p.Carried, p.Unsent = false, 0, rows
	if err := s.note(p); err != nil {
		return err
	}
	s.hold(rows)
	return nil
}

// Sending declares the message that the row of step t, which must be the one that may be asked for again, is about to
// be sent in: by its SHA-256, 64 hexadecimal digits. It is on disk when Sending returns. Another message for the same
// step is ErrSent: the row would protect two gradients. It also fails as Row does, and for a malformed digest.
func (i *Issuer) Sending(t int, digest string) error {
	s := i.stream
	p := s.place()
	digest = strings.ToLower(digest)
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != 32 {
		return fmt.Errorf("%.80q is no SHA-256, 64 hexadecimal digits", digest)
	}
	switch {
	case s.err != nil:
		return s.err
	case t != p.Issued-1 || !p.Again:
		return i.order(t)
	case p.Sending == digest:
		return nil
	case p.Sending != "":
		return fmt.Errorf("%w: step %d was declared for another message, and a row protects one", ErrSent, t)
	}
	p.Sending = digest
	return s.note(p)
}

// Close lets go of the state.
func (i *Issuer) Close() error { return i.stream.Close() }

// order says which steps may be named.
func (i *Issuer) order(t int) error {
	s := i.Standing()
	text := fmt.Sprintf("the next row is that of step %d", s.Next)
	if s.Next == i.stream.steps {
		text = "all rows were handed out"
	}
	if s.Issued >= 0 {
		text += fmt.Sprintf(", and that of step %d may be asked for again", s.Issued)
	}
	return fmt.Errorf("%w: step %d was named; %s", ErrOrder, t, text)
}
