package serve

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mafalda/noise"
)

// The formats of rows: little-endian numbers.
const (
	Float64 = "float64"
	Float32 = "float32"
)

func protocolError(format string, args ...any) error {
	return &Error{CodeProtocol, fmt.Sprintf(format, args...)}
}

// answer makes the reply to a request. The errors are an Error, or the connection's.
func (c *connection) answer(line string) error {
	if !utf8.ValidString(line) {
		return protocolError("a line that is not UTF-8")
	}
	fields := strings.Split(line, " ")
	switch word, count := fields[0], len(fields); {
	case word == "row" && (count == 3 || count == 5):
		return c.row(fields)
	case word == "unsent" && count == 2 || word == "sending" && count == 3:
		step, err := number(fields[1])
		switch {
		case err != nil:
		case word == "unsent":
			err = c.refusal(c.issuer.Unsent(step))
		case !isDigest(fields[2]):
			err = protocolError("%.80q is no SHA-256, 64 hexadecimal digits", fields[2])
		default:
			err = c.refusal(c.issuer.Sending(step, fields[2]))
		}
		return c.done(err, "%s %d", word, step)
	case line == "state":
		return c.say("state")
	case line == "spent":
		return c.spent()
	}
	return protocolError("%.80q is no request", line)
}

// spent answers what the rows that may have been sent have given away; null where the export has no privacy level.
func (c *connection) spent() error {
	var answer any
	spent, err := c.issuer.Stream().Spent()
	switch {
	case err == nil:
		answer = spent
	case !errors.Is(err, noise.ErrOdometer):
		return &Error{CodeRange, err.Error()}
	}
	text, err := json.Marshal(answer)
	return c.done(err, "spent %s", text)
}

// done makes a reply unless there is an error.
func (c *connection) done(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	c.to.text(fmt.Sprintf(format, args...))
	return nil
}

func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// number reads a number that is written as it would be: without signs and leading zeros.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return 0, protocolError("%.80q is no number of a step, or of a row", text)
	}
	return n, nil
}

// refusal makes an Error of what an issuer says, and ends the server if there are no more rows.
func (c *connection) refusal(err error) error {
	code := CodeIO
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return &Error{CodeExhausted, fmt.Sprintf("all %d rows were handed out", c.issuer.Stream().Steps())}
	case errors.Is(err, noise.ErrBudget):
		return &Error{CodeBudget, err.Error()}
	case errors.Is(err, noise.ErrOrder):
		return &Error{CodeOrder, err.Error()}
	case errors.Is(err, noise.ErrSent):
		return &Error{CodeSent, err.Error()}
	case errors.Is(err, noise.ErrNumbers):
		code = CodeInternal
	}
	if c.failed == nil {
		c.failed = err
	}
	c.reply(&Error{code, err.Error()}) // before the connection is closed
	c.end()
	return err
}

// row answers 'row T FORMAT' and 'row T FORMAT OFFSET LENGTH'.
func (c *connection) row(fields []string) error {
	s := c.issuer.Stream()
	step, err := number(fields[1])
	offset, length, format := 0, s.Dim(), fields[2]
	if err == nil && len(fields) == 5 {
		if offset, err = number(fields[3]); err == nil {
			length, err = number(fields[4])
		}
	}
	size := 8
	switch {
	case err != nil:
		return err
	case format == Float32:
		size = 4
	case format != Float64:
		return protocolError("%.80q is neither %s nor %s", format, Float64, Float32)
	}
	if offset > s.Dim() || length < 1 || length > s.Dim()-offset {
		return &Error{CodeRange, fmt.Sprintf("numbers %d to %d of a row of %d", offset, offset+length-1, s.Dim())}
	}
	if format == Float32 {
		if err := s.Single(nil, nil); err != nil { // before there is a row
			return &Error{CodeRange, err.Error()}
		}
	}
	all, err := c.issuer.Row(step)
	if err != nil {
		return c.refusal(err)
	}
	numbers, word := all[offset:offset+length], fmt.Sprintf("row %d %s %d %d %d", step, format, offset, length, size*length)
	if format == Float64 {
		return send(c, word, size, numbers)
	}
	single := make([]float32, length)
	if err := s.Single(single, numbers); err != nil {
		return &Error{CodeRange, err.Error()}
	}
	return send(c, word, size, single)
}

// send answers with numbers of this size.
func send[F float32 | float64](c *connection, word string, size int, numbers []F) error {
	c.deadline(size * len(numbers))
	c.to.text(word)
	for part := range slices.Chunk(numbers, piece/size) {
		c.to.begin()
		buf, err := binary.Append(slices.Grow(c.to.buf, size*len(part)+sha256.Size), binary.LittleEndian, part)
		if err != nil {
			panic(err) // numbers have a size
		}
		c.to.buf = buf
		c.to.end()
		if err := c.to.flush(); err != nil {
			return err
		}
	}
	return nil
}
