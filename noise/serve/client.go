package serve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"mafalda/noise"
)

// Client is a connection to a server: what a trainer in Go draws its noise by. Goroutines that use it take turns.
// Errors of the server are an *Error; after any other one the connection is of no use.
type Client struct {
	one   sync.Mutex // held for every request, until its reply is read
	conn  net.Conn
	from  *opener
	to    *sealer
	hello Info
}

// Errors of Dial.
var (
	// ErrProof is about a server that does not prove the token, or, at a Unix socket, is another user's.
	ErrProof = errors.New("whoever listens there does not prove to be the server")
	// ErrIdentity is about a server of other rows.
	ErrIdentity = errors.New("the server has other rows")
)

// Dial connects to the server of some rows at a network and address of package net, as "unix" and a path, or "tcp"
// and 127.0.0.1:PORT with the token. Both sides prove the token; it is not sent. The errors are ErrProof,
// ErrIdentity, ErrLoopback, an *Error (which, here, anybody may have sent who listens at a TCP address), and the
// connection's.
func Dial(network, address, token string, of Identity) (*Client, error) {
	for attempt := time.Duration(1); ; attempt++ {
		c, err := dial(network, address, token, of)
		if !errors.Is(err, errHungUp) || attempt == 5 {
			return c, err
		}
		time.Sleep(attempt * grace) // the server may be full of others that have not proven the token
	}
}

func dial(network, address, token string, of Identity) (*Client, error) {
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn}
	if err = checkPeer(conn); err == nil {
		err = c.greet(token, of)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// errHungUp is about a server that hangs up before it has proven anything.
var errHungUp = errors.New("the server has hung up")

// greet proves the token and has the server prove it.
func (c *Client) greet(token string, of Identity) error {
	if tcp, ok := c.conn.RemoteAddr().(*net.TCPAddr); ok {
		switch {
		case !tcp.IP.IsLoopback():
			return fmt.Errorf("%v: %w: rows are not encrypted", tcp, ErrLoopback)
		case token == "":
			return fmt.Errorf("%v: %w: every user of the machine can listen there", tcp, ErrToken)
		}
	}
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReaderSize(c.conn, 1<<16)
	ask := func(line string) (string, error) {
		_, err := io.WriteString(c.conn, line)
		var said string
		if err == nil {
			said, err = readLine(in)
		}
		if err != nil && !errors.As(err, new(*Error)) && !errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errHungUp, err)
		}
		return said, err
	}
	first, err := opening{of, addressOf(c.conn.RemoteAddr()), newNonce(), token != ""}.line()
	if err != nil {
		return err
	}
	second, err := ask(first)
	if err != nil {
		return err
	}
	if nonce, ok := strings.CutPrefix(second, greeting); !ok || !isDigest(nonce) {
		return fmt.Errorf("no noise server: it said %.80q", second)
	}
	keys := newSession(token, first, second+"\n")
	said, err := ask(keys.proof(clientProof))
	if err != nil {
		return err
	}
	if !keys.proves(said, serverProof) {
		return fmt.Errorf("%v: %w", c.conn.RemoteAddr(), ErrProof)
	}
	_ = c.conn.SetDeadline(time.Time{})
	c.from, c.to = newOpener(in, keys.key(serverFrames)), newSealer(c.conn, keys.key(clientFrames))
	if c.hello, err = hear[Info](c, "hello"); err != nil {
		return err
	}
	if found := (Identity{c.hello.Export, c.hello.Node, c.hello.Dim}); found != of {
		return fmt.Errorf("%w: %+v, not %+v", ErrIdentity, found, of)
	}
	return nil
}

// readLine returns the server's next line without its line feed. The line may say anything: the server has proven nothing yet.
func readLine(in *bufio.Reader) (string, error) {
	text, err := in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	line := string(text[:len(text)-1])
	return line, refusal(line)
}

// refusal returns what an answer refuses with, if it does. Terminals can print it, whoever has sent it.
func refusal(answer string) error {
	said, refused := strings.CutPrefix(answer, "error ")
	if !refused {
		return nil
	}
	code, text, _ := strings.Cut(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, said), " ")
	return &Error{code, text}
}

// Hello returns what the server said first.
func (c *Client) Hello() Info { return c.hello }

// State returns what may be asked for now.
func (c *Client) State() (Info, error) { return ask[Info](c, "state") }

// Spent returns what the rows that may have been sent have given away; nil where the export has no privacy level.
func (c *Client) Spent() (*noise.Spent, error) { return ask[*noise.Spent](c, "spent") }

// Row reads numbers offset, offset+1, … of the row of step t into dst, as many as it has.
func (c *Client) Row(t, offset int, dst []float64) error {
	return row(c, t, Float64, offset, dst)
}

// RowFloat32 is Row in single precision.
func (c *Client) RowFloat32(t, offset int, dst []float32) error {
	return row(c, t, Float32, offset, dst)
}

// Unsent declares that the message of step t never left, nor ever will: its row is in the next one.
func (c *Client) Unsent(t int) error {
	return c.declare("unsent", t, "")
}

// Sending declares the SHA-256 of the message of step t, in hexadecimal digits, before it is sent.
func (c *Client) Sending(t int, digest string) error {
	return c.declare("sending", t, " "+digest)
}

// Close ends the connection. It does not wait: a request that is being answered fails.
func (c *Client) Close() error {
	var err error
	if c.one.TryLock() {
		defer c.one.Unlock()
		_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
		err = c.send("close")
	}
	if closed := c.conn.Close(); err == nil {
		err = closed
	}
	return err
}

// send sends a request.
func (c *Client) send(request string) error {
	c.to.text(request)
	return c.to.flush()
}

// hear returns an answer. What follows a wrong frame is not read: the connection is closed.
func (c *Client) hear() (string, error) {
	answer, err := c.frame(MaxFrame)
	if err != nil {
		return "", err
	}
	return string(answer), refusal(string(answer))
}

func (c *Client) frame(most int) ([]byte, error) {
	frame, err := c.from.next(most)
	switch {
	case errors.Is(err, ErrFrame):
		c.conn.Close()
	case err != nil:
		err = fmt.Errorf("the server has hung up: %w", err)
	}
	return frame, err
}

// declare tells the server something of a step.
func (c *Client) declare(word string, t int, more string) error {
	c.one.Lock()
	defer c.one.Unlock()
	said := fmt.Sprintf("%s %d", word, t)
	return c.command(said+more, said)
}

func (c *Client) command(request, want string) error {
	err := c.send(request)
	if err != nil {
		return err
	}
	answer, err := c.hear()
	if err == nil && answer != want {
		err = fmt.Errorf("the server answered %.80q, not %q", answer, want)
	}
	return err
}

// ask sends a word, and returns what the server answers.
func ask[V any](c *Client, word string) (v V, err error) {
	c.one.Lock()
	defer c.one.Unlock()
	if err := c.send(word); err != nil {
		return v, err
	}
	return hear[V](c, word)
}

// hear returns the answer that is a word and JSON.
func hear[V any](c *Client, word string) (v V, err error) {
	answer, err := c.hear()
	if err != nil {
		return v, err
	}
	text, ok := strings.CutPrefix(answer, word+" ")
	if !ok {
		return v, fmt.Errorf("the server answered %.80q, not %q", answer, word)
	}
	return v, json.Unmarshal([]byte(text), &v)
}

// row asks for numbers, and hands them out when they are known to be the server's.
func row[F float32 | float64](c *Client, t int, format string, offset int, dst []F) error {
	c.one.Lock()
	defer c.one.Unlock()
	size := binary.Size(F(0))
	at := fmt.Sprintf("row %d %s %d %d", t, format, offset, len(dst))
	if err := c.command(at, at+" "+strconv.Itoa(size*len(dst))); err != nil {
		return err
	}
	for len(dst) > 0 {
		b, err := c.frame(min(MaxFrame, size*len(dst)))
		if err != nil {
			return err
		}
		if len(b)%size != 0 {
			c.conn.Close()
			return fmt.Errorf("%w (a part of a number)", ErrFrame)
		}
		n, err := binary.Decode(b, binary.LittleEndian, dst[:len(b)/size])
		if err != nil {
			return err
		}
		dst = dst[n/size:]
	}
	return nil
}
