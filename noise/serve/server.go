package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"mafalda/noise"
)

// Options tunes Serve.
type Options struct {
	Token    string        // token that clients must prove; empty: none
	Patience time.Duration // how long a client may take to read; 0 means 30 seconds
}

const (
	patience   = 30 * time.Second
	maxClients = 256     // connections that have proven the token
	slowest    = 1 << 20 // bytes a second that a client must read
)

// Serve serves the rows of an issuer to all who connect and prove the token, until ctx ends: then it returns nil. It
// closes the listener and all connections, not the issuer. The error is why there are no more rows, if that is why it
// ended (see noise.Issuer), or the listener's.
func Serve(ctx context.Context, l net.Listener, issuer *noise.Issuer, o Options) error {
	if o.Patience == 0 {
		o.Patience = patience
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{issuer: issuer, token: o.Token, patience: o.Patience, end: cancel,
		room: make(chan struct{}, maxClients)}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	err := s.accept(ctx, l)
	if ctx.Err() != nil { // it is the end that was wanted, or the end of the rows
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
	token    string // empty: none
	patience time.Duration
	end      func()
	lobby    lobby
	room     chan struct{} // a place for every client
	open     sync.WaitGroup
	one      sync.Mutex // held for every request, until its reply is written
	failed   error      // why there are no more rows
}

// accept serves connections until ctx ends.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	for {
		conn, err := l.Accept()
		var passing interface{ Temporary() bool }
		switch {
		case err == nil:
		case ctx.Err() == nil && errors.As(err, &passing) && passing.Temporary(): // as too many open files
			time.Sleep(grace)
			continue
		default:
			return err
		}
		g := s.lobby.enter(conn)
		s.open.Go(func() {
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			defer conn.Close()
			defer s.lobby.leave(g)
			(&connection{server: s, conn: conn, in: bufio.NewReaderSize(conn, MaxLine)}).serve(g)
		})
	}
}

// connection is one client.
type connection struct {
	*server
	conn net.Conn
	in   *bufio.Reader
	from *opener // opener of requests; nil until the token is proven
	to   *sealer // sealer of replies
}

// serve answers requests until one of the two hangs up.
func (c *connection) serve(g *guest) {
	if c.conn.SetDeadline(time.Now().Add(min(handshake, c.patience))) != nil {
		return
	}
	o, err := c.greet()
	if err != nil {
		c.refuse(err)
		return
	}
	if !c.lobby.leave(g) {
		return
	}
	select {
	case c.room <- struct{}{}:
	default:
		c.refuse(protocolError("%d clients are connected, and there is no room for more", maxClients))
		return
	}
	defer func() { <-c.room }()
	if c.conn.SetDeadline(time.Time{}) != nil || !c.welcome(o) {
		return
	}
	for {
		request, err := c.from.next(MaxLine)
		line := string(request)
		if err == nil && line == "close" {
			return
		}
		c.one.Lock()
		c.deadline(0)
		if errors.Is(err, ErrFrame) {
			err = protocolError("%v", err)
		}
		if err == nil {
			err = c.answer(line)
		}
		ok := c.reply(err)
		c.one.Unlock()
		if !ok {
			return
		}
	}
}

// greet has the client prove the token. The errors are an Error, or the connection's.
func (c *connection) greet() (o opening, err error) {
	first, err := c.line()
	if err != nil {
		return o, err
	}
	if o, err = readOpening(first); err != nil {
		return o, err
	}
	at := addressOf(c.conn.LocalAddr())
	switch {
	case !o.Token && c.token != "":
		return o, &Error{CodeToken, "the token has to be proven here"}
	case o.Token && c.token == "":
		return o, &Error{CodeToken, "no token is expected here"}
	case o.Address != at:
		return o, &Error{CodeToken, fmt.Sprintf("the client has connected to %q, and this is %q: what is between them "+
			"could read rows", o.Address, at)}
	}
	second := greeting + newNonce() + "\n"
	if _, err = io.WriteString(c.conn, second); err != nil {
		return o, err
	}
	proof, err := c.line()
	if err != nil {
		return o, err
	}
	keys := newSession(c.token, first+"\n", second)
	if !keys.proves(proof, clientProof) {
		return o, &Error{CodeToken, "that is not the token"}
	}
	c.from, c.to = newOpener(c.in, keys.key(clientFrames)), newSealer(c.conn, keys.key(serverFrames))
	_, err = io.WriteString(c.conn, keys.proof(serverProof))
	return o, err
}

// line returns the next line, without its line feed. The errors are an Error, or the connection's.
func (c *connection) line() (string, error) {
	text, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", protocolError("a line of more than %d bytes", MaxLine)
	case err != nil:
		return "", err
	}
	return string(text[:len(text)-1]), nil
}

// refuse tells a client that has not proven the token why it is hung up on.
func (c *connection) refuse(err error) {
	if refused, is := errors.AsType[*Error](err); is {
		_, _ = io.WriteString(c.conn, refused.line()+"\n")
	}
}

// welcome says what is served here, and reports whether that is what the client wants.
func (c *connection) welcome(o opening) bool {
	c.one.Lock()
	defer c.one.Unlock()
	c.deadline(0)
	i := infoOf(c.issuer)
	return c.reply(c.say("hello")) && o.Identity == Identity{i.Export, i.Node, i.Dim}
}

// deadline returns the time by which a reply of this size must have been read.
func (c *connection) deadline(bytes int) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.patience + time.Duration(bytes)*time.Second/slowest))
}

// reply sends what was answered, or the error, and reports whether the connection goes on.
func (c *connection) reply(err error) bool {
	var refused *Error
	switch {
	case err == nil:
		return c.to.flush() == nil
	case !errors.As(err, &refused):
		return false
	}
	c.deadline(0)
	c.to.text(refused.line())
	if c.to.flush() != nil {
		return false
	}
	switch refused.Code {
	case CodeProtocol, CodeIO:
		return false
	}
	return true
}

// line returns what a client is told, without a line feed.
func (e *Error) line() string {
	text := strings.NewReplacer("\n", "; ", "\r", " ").Replace(e.Text)
	if len(text) > MaxLine-100 {
		text = strings.ToValidUTF8(text[:MaxLine-100], "")
	}
	return "error " + e.Code + " " + text
}

// say answers a word and the Info.
func (c *connection) say(word string) error {
	text, err := json.Marshal(infoOf(c.issuer))
	if err == nil {
		c.to.text(word + " " + string(text))
	}
	return err
}
