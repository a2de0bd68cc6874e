package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxLine is the length in bytes from which a line is refused.
const MaxLine = 1 << 20

// Lines calls f with every line of r, without white space around it or a byte order mark, and its number from 1, until f
// fails. It returns the number of lines. A line in which r breaks off is none. Errors name the source and the line.
func Lines(r io.Reader, source string, f func(line string, number int) error) (int, error) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), MaxLine)
	s.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		if atEnd && s.Err() != nil && bytes.IndexByte(data, '\n') < 0 {
			return len(data), nil, nil
		}
		return bufio.ScanLines(data, atEnd)
	})
	number := 0
	for s.Scan() {
		number++
		if err := f(strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff")), number); err != nil {
			return number, fmt.Errorf("%s:%d: %w", source, number, err)
		}
	}
	if err := s.Err(); err != nil {
		return number, fmt.Errorf("%s:%d: %w", source, number+1, Plain(err))
	}
	return number, nil
}

// ErrLongLine is about a line of MaxLine bytes or more.
var ErrLongLine = errors.New("a line of more than a megabyte")

// Plain says in plain words what is wrong with the bytes of a file.
func Plain(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return ErrLongLine
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("truncated: the compressed data end in the middle")
	}
	return err
}
