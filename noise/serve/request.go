package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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

func malformed(format string, args ...any) error {
	return &Error{CodeProtocol, fmt.Sprintf(format, args...)}
}

// answer writes the reply to a request. The errors are an Error, or that of the connection.
func (c *connection) answer(line string) error {
	if !utf8.ValidString(line) {
		return malformed("a line that is not UTF-8")
	}
	fields := strings.Split(line, " ")
	switch word, count := fields[0], len(fields); {
	case word == "row" && (count == 3 || count == 5):
		return c.row(fields)
	case word == "unsent" && count == 2:
		step, err := number(fields[1])
		if err == nil {
			err = c.refusal(c.issuer.Unsent(step))
		}
		return c.done(err, "unsent %d\n", step)
	case word == "sending" && count == 3:
		step, err := number(fields[1])
		if err == nil && !isDigest(fields[2]) {
			err = malformed("%.80q is no SHA-256, 64 hexadecimal digits", fields[2])
		}
		if err == nil {
			err = c.refusal(c.issuer.Sending(step, fields[2]))
		}
		return c.done(err, "sending %d\n", step)
	case line == "state":
		return c.say("state")
	}
	return malformed("%.80q is no request", line)
}

// done writes a reply unless there is an error.
func (c *connection) done(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, format, args...)
	return err
}

func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// number reads a number that is written as it would be: without signs and leading zeros.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return 0, malformed("%.80q is no number of a step, or of a row", text)
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
		return malformed("%.80q is neither %s nor %s", format, Float64, Float32)
	}
	if offset > s.Dim() || length < 1 || length > s.Dim()-offset {
		return &Error{CodeRange, fmt.Sprintf("numbers %d to %d of a row of %d", offset, offset+length-1, s.Dim())}
	}
	if format == Float32 {
		if err := s.FitsSingle(nil); err != nil { // before there is a row
			return &Error{CodeRange, err.Error()}
		}
	}
	all, err := c.issuer.Row(step)
	if err != nil {
		return c.refusal(err)
	}
	numbers := all[offset : offset+length]
	if format == Float32 {
		if err := s.FitsSingle(numbers); err != nil {
			return &Error{CodeRange, err.Error()}
		}
	}
	c.deadline(size * length)
	if err := c.done(nil, "row %d %s %d %d %d\n", step, format, offset, length, size*length); err != nil {
		return err
	}
	return c.write(numbers, format)
}

// write sends numbers piece by piece.
func (c *connection) write(numbers []float64, format string) error {
	for len(numbers) > 0 {
		if c.out.Available() < 8 {
			if err := c.out.Flush(); err != nil {
				return err
			}
		}
		room, n := c.out.AvailableBuffer(), 0
		if format == Float64 {
			n = min(len(numbers), c.out.Available()/8)
			for _, v := range numbers[:n] {
				room = binary.LittleEndian.AppendUint64(room, math.Float64bits(v))
			}
		} else {
			n = min(len(numbers), c.out.Available()/4)
			for _, v := range numbers[:n] {
				room = binary.LittleEndian.AppendUint32(room, math.Float32bits(float32(v)))
			}
		}
		if _, err := c.out.Write(room); err != nil {
			return err
		}
		numbers = numbers[n:]
	}
	return nil
}
