package serve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
)

// Client is a connection to a server: what a trainer in Go draws its noise by. It is for one goroutine. Errors of the
// server are an *Error; after any other one the connection is of no use.
type Client struct {
	conn  net.Conn
	in    *bufio.Reader
	hello Info
}

// Dial connects to a server at a network and address of package net, as "unix" and a path, or "tcp" and 127.0.0.1:PORT
// with the token.
func Dial(network, address, token string) (*Client, error) {
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, in: bufio.NewReaderSize(conn, 1<<16)}
	greeting := fmt.Sprintf("mafalda %d", Version)
	if token != "" {
		greeting += " " + token
	}
	if c.hello, err = c.info(greeting, "hello"); err == nil && c.hello.Protocol != Version {
		err = fmt.Errorf("the server speaks version %d", c.hello.Protocol)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// Hello returns what the server said first.
func (c *Client) Hello() Info { return c.hello }

// State returns what may be asked for now.
func (c *Client) State() (Info, error) { return c.info("state", "state") }

// Row reads numbers offset, offset+1, … of the row of step t into dst, as many as it has.
func (c *Client) Row(t, offset int, dst []float64) error {
	if err := c.row(t, Float64, offset, len(dst), 8); err != nil {
		return err
	}
	return c.numbers(8*len(dst), func(i int, b []byte) {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}, 8)
}

// RowFloat32 is Row in single precision.
func (c *Client) RowFloat32(t, offset int, dst []float32) error {
	if err := c.row(t, Float32, offset, len(dst), 4); err != nil {
		return err
	}
	return c.numbers(4*len(dst), func(i int, b []byte) {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b))
	}, 4)
}

// Unsent declares that the message of step t never left, nor ever will: its row is in the next one.
func (c *Client) Unsent(t int) error {
	return c.command(fmt.Sprintf("unsent %d", t), fmt.Sprintf("unsent %d", t))
}

// Sending declares the SHA-256 of the message of step t, in hexadecimal digits, before it is sent.
func (c *Client) Sending(t int, digest string) error {
	return c.command(fmt.Sprintf("sending %d %s", t, digest), fmt.Sprintf("sending %d", t))
}

// Close ends the connection.
func (c *Client) Close() error {
	_, err := io.WriteString(c.conn, "close\n")
	if closed := c.conn.Close(); err == nil {
		err = closed
	}
	return err
}

// ask sends a line and returns the one that comes back.
func (c *Client) ask(line string) (string, error) {
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		return "", err
	}
	reply, err := c.in.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the server has hung up: %w", err)
	}
	reply = strings.TrimSuffix(reply, "\n")
	if said, refused := strings.CutPrefix(reply, "error "); refused {
		code, text, _ := strings.Cut(said, " ")
		return "", &Error{code, text}
	}
	return reply, nil
}

func (c *Client) command(line, want string) error {
	reply, err := c.ask(line)
	if err == nil && reply != want {
		err = fmt.Errorf("the server answered %.80q, not %q", reply, want)
	}
	return err
}

func (c *Client) info(line, word string) (i Info, err error) {
	reply, err := c.ask(line)
	if err != nil {
		return i, err
	}
	text, ok := strings.CutPrefix(reply, word+" ")
	if !ok {
		return i, fmt.Errorf("the server answered %.80q, not %q", reply, word)
	}
	return i, json.Unmarshal([]byte(text), &i)
}

// row asks for numbers, which follow if there is no error.
func (c *Client) row(t int, format string, offset, length, size int) error {
	at := fmt.Sprintf("row %d %s %d %d", t, format, offset, length)
	return c.command(at, at+" "+strconv.Itoa(size*length))
}

// numbers reads bytes, and hands out each number's.
func (c *Client) numbers(bytes int, put func(i int, b []byte), size int) error {
	piece := make([]byte, min(bytes, 1<<16))
	for i := 0; bytes > 0; {
		b := piece[:min(bytes, len(piece))]
		if _, err := io.ReadFull(c.in, b); err != nil {
			return fmt.Errorf("the server has hung up: %w", err)
		}
		bytes -= len(b)
		for ; len(b) > 0; b = b[size:] {
			put(i, b)
			i++
		}
	}
	return nil
}
