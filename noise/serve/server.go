package serve

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"mafalda/noise"
)

// Options tunes Serve.
type Options struct {
	Token    string        // that clients must say; empty: none
	Patience time.Duration // how long a client may take to begin, or to read; 0 means 30 seconds
}

const (
	patience       = 30 * time.Second
	maxConnections = 256
	slowest        = 1 << 20 // bytes a second that a client must read
)

// Serve serves the rows of an issuer to all who connect, until ctx ends: then it returns nil. It closes the listener and
// all connections, not the issuer. The error is why there are no more rows, if that is why it ended (see noise.Issuer),
// or that of the listener.
func Serve(ctx context.Context, l net.Listener, issuer *noise.Issuer, o Options) error {
	if o.Patience == 0 {
		o.Patience = patience
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{issuer: issuer, patience: o.Patience, end: cancel}
	if o.Token != "" {
		hash := sha256.Sum256([]byte(o.Token))
		s.token = hash[:]
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	err := s.accept(ctx, l)
	if ctx.Err() != nil { // it is the end that was wanted, or that of the rows
		err = nil
	}
	cancel()
	l.Close()
	s.open.Wait()
	return errors.Join(s.failed, err)
}

// server is what connections have in common.
type server struct {
	issuer   *noise.Issuer
	token    []byte // SHA-256; nil: none
	patience time.Duration
	end      func()
	open     sync.WaitGroup
	one      sync.Mutex // held for every request, until its reply is written
	failed   error      // why there are no more rows
}

// accept serves connections until ctx ends.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	room := make(chan struct{}, maxConnections)
	for {
		conn, err := l.Accept()
		var passing interface{ Temporary() bool }
		switch {
		case err == nil:
		case ctx.Err() == nil && errors.As(err, &passing) && passing.Temporary(): // as too many open files
			time.Sleep(50 * time.Millisecond)
			continue
		default:
			return err
		}
		select {
		case room <- struct{}{}:
		default:
			conn.Close()
			continue
		}
		s.open.Go(func() {
			defer func() { <-room }()
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			defer conn.Close()
			c := &connection{server: s, conn: conn, in: bufio.NewReaderSize(conn, MaxLine), out: bufio.NewWriterSize(conn, 1<<16)}
			c.serve()
		})
	}
}

// connection is one client.
type connection struct {
	*server
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

// serve answers line by line until one of the two hangs up.
func (c *connection) serve() {
	if c.conn.SetReadDeadline(time.Now().Add(c.patience)) != nil {
		return
	}
	line, err := c.line()
	if err == nil {
		err = c.greeting(line)
	}
	if !c.reply(err) || c.conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	for {
		line, err := c.line()
		if err == nil && line == "close" {
			return
		}
		c.one.Lock()
		if err == nil {
			c.deadline(0)
			err = c.answer(line)
		}
		ok := c.reply(err)
		c.one.Unlock()
		if !ok {
			return
		}
	}
}

// line returns the next line. The errors are an Error, or that of the connection.
func (c *connection) line() (string, error) {
	text, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", malformed("a line of more than %d bytes", MaxLine)
	case err != nil:
		return "", err
	}
	return string(text[:len(text)-1]), nil
}

// deadline says by when a reply of so many bytes must have been read.
func (c *connection) deadline(bytes int) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.patience + time.Duration(bytes)*time.Second/slowest))
}

// reply sends what was answered, or the error, and reports whether the connection goes on.
func (c *connection) reply(err error) bool {
	var refused *Error
	switch {
	case err == nil:
		return c.out.Flush() == nil
	case !errors.As(err, &refused):
		return false
	}
	c.deadline(0)
	text := strings.NewReplacer("\n", "; ", "\r", " ").Replace(refused.Text)
	if len(text) > MaxLine-100 {
		text = strings.ToValidUTF8(text[:MaxLine-100], "")
	}
	_, err = io.WriteString(c.out, "error "+refused.Code+" "+text+"\n")
	if err = errors.Join(err, c.out.Flush()); err != nil {
		return false
	}
	switch refused.Code {
	case CodeProtocol, CodeToken, CodeIO:
		return false
	}
	return true
}

// greeting answers the first line.
func (c *connection) greeting(line string) error {
	fields := strings.Split(line, " ")
	switch {
	case fields[0] != "mafalda" || len(fields) < 2:
		return malformed("the first line is not 'mafalda %d'", Version)
	case fields[1] != "1":
		return malformed("version %d is spoken here, not %.20q", Version, fields[1])
	case c.token == nil && len(fields) > 2:
		return malformed("no token is expected")
	case c.token != nil:
		said := ""
		if len(fields) == 3 {
			said = fields[2]
		}
		hash := sha256.Sum256([]byte(said))
		if subtle.ConstantTimeCompare(hash[:], c.token) != 1 {
			return &Error{CodeToken, "that is not the token"}
		}
	}
	c.one.Lock()
	defer c.one.Unlock()
	c.deadline(0)
	return c.say("hello")
}

// say answers a word and the Info.
func (c *connection) say(word string) error {
	text, err := json.Marshal(infoOf(c.issuer))
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.out, word+" "+string(text)+"\n")
	return err
}
