package serve

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The same numbers in both languages: python/tests/test_protocol.py makes all of them from SHA-256 alone.
func TestSessionVector(t *testing.T) {
	text, err := os.ReadFile("../../python/tests/session.json")
	if err != nil {
		t.Fatal(err)
	}
	type frame struct{ Payload, Frame string }
	var v struct {
		Token        string
		ClientLine   string `json:"client_line"`
		ServerLine   string `json:"server_line"`
		Secret       string
		Keys         map[string]string
		ClientFrames []frame `json:"client_frames"`
		ServerFrames []frame `json:"server_frames"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	o, err := readOpening(strings.TrimSuffix(v.ClientLine, "\n"))
	if line, _ := o.line(); err != nil || line != v.ClientLine {
		t.Errorf("the first line is read as %+v, %v", o, err)
	}
	s := newSession(v.Token, v.ClientLine, v.ServerLine)
	if hex.EncodeToString(s.secret) != v.Secret || len(v.Keys) != 4 {
		t.Errorf("the secret is %x", s.secret)
	}
	for purpose, want := range v.Keys {
		if got := hex.EncodeToString(s.key(purpose)); got != want {
			t.Errorf("%s: %s, not %s", purpose, got, want)
		}
	}
	for purpose, frames := range map[string][]frame{clientFrames: v.ClientFrames, serverFrames: v.ServerFrames} {
		var sent bytes.Buffer
		to := newSealer(&sent, s.key(purpose))
		var want []byte
		for _, f := range frames {
			payload, _ := hex.DecodeString(f.Payload)
			to.text(string(payload))
			bytes, _ := hex.DecodeString(f.Frame)
			want = append(want, bytes...)
		}
		if err := to.flush(); err != nil || len(want) == 0 || !bytes.Equal(sent.Bytes(), want) {
			t.Errorf("%s: %x, not %x", purpose, sent.Bytes(), want)
		}
		from := newOpener(bufio.NewReader(&sent), s.key(purpose))
		for i, f := range frames {
			if got, err := from.next(MaxFrame); err != nil || hex.EncodeToString(got) != f.Payload {
				t.Errorf("%s: frame %d is read as %x, %v", purpose, i, got, err)
			}
		}
		if _, err := from.next(MaxFrame); err != io.EOF {
			t.Errorf("after the last frame: %v", err)
		}
	}
}

// A frame that is cut, changed, repeated, left out, of the other direction or of another session is not taken.
func TestFramesThatAreNotTheNext(t *testing.T) {
	keys, other := newSession("token", "a", "b"), newSession("token", "a", "c")
	sealed := func(s session, purpose string, texts ...string) (frames [][]byte) {
		var b bytes.Buffer
		to := newSealer(&b, s.key(purpose))
		for _, text := range texts {
			to.text(text)
			if err := to.flush(); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, slices.Clone(b.Bytes()))
			b.Reset()
		}
		return frames
	}
	f := sealed(keys, serverFrames, "one", "two", "six")
	changed := func(at int, to byte) []byte {
		frame := slices.Clone(f[0])
		frame[at] ^= to
		return frame
	}
	for name, tc := range map[string]struct {
		frames [][]byte
		good   int
		err    error
	}{
		"all":                  {f, 3, io.EOF},
		"swapped":              {[][]byte{f[1], f[0]}, 0, ErrFrame},
		"repeated":             {[][]byte{f[0], f[0]}, 1, ErrFrame},
		"one left out":         {[][]byte{f[0], f[2]}, 1, ErrFrame},
		"a number changed":     {[][]byte{changed(5, 1)}, 0, ErrFrame},
		"the code changed":     {[][]byte{changed(len(f[0])-1, 128)}, 0, ErrFrame},
		"the code cut":         {[][]byte{f[0][:len(f[0])-1]}, 0, io.ErrUnexpectedEOF},
		"the length cut":       {[][]byte{f[0], f[1][:3]}, 1, io.ErrUnexpectedEOF},
		"shorter":              {[][]byte{changed(0, 1)}, 0, ErrFrame},
		"of length 0":          {[][]byte{make([]byte, 40)}, 0, ErrFrame},
		"of length 2^32-1":     {[][]byte{bytes.Repeat([]byte{255}, 40)}, 0, ErrFrame},
		"of length 2^24":       {[][]byte{changed(3, 1)}, 0, ErrFrame},
		"another direction's":  {sealed(keys, clientFrames, "one"), 0, ErrFrame},
		"another session's":    {sealed(other, serverFrames, "one"), 0, ErrFrame},
		"without a code":       {[][]byte{append(f[0][:7:7], make([]byte, 32)...)}, 0, ErrFrame},
		"two halves in one":    {[][]byte{slices.Concat(f[0][:5], f[1][5:])}, 0, ErrFrame},
		"bytes between frames": {[][]byte{f[0], {0}, f[1]}, 1, io.ErrUnexpectedEOF},
	} {
		from := newOpener(bufio.NewReader(bytes.NewReader(slices.Concat(tc.frames...))), keys.key(serverFrames))
		for i := range tc.good {
			if _, err := from.next(1000); err != nil {
				t.Errorf("%s: frame %d: %v", name, i, err)
			}
		}
		if text, err := from.next(1000); !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

const token = "0123456789abcdef"

// Without the token there is no row, and the token is not sent: not to the server, and to nobody else.
func TestServeToken(t *testing.T) {
	r := start(t, Options{Token: token})
	for _, other := range []string{"0123456789abcdeg", "0123456789abcde", token + "x"} {
		_, err := Dial("tcp", r.path, other, r.identity())
		refused(t, err, CodeToken)
	}
	if _, err := Dial("tcp", r.path, "", r.identity()); !errors.Is(err, ErrToken) {
		t.Errorf("without a token: %v", err)
	}
	line, err := opening{Identity: Identity{r.identity().Export, "ann", dim}, Address: r.path, Nonce: newNonce()}.line()
	if err != nil {
		t.Fatal(err)
	}
	if said := r.raw(strings.TrimSpace(line)); !strings.HasPrefix(said, "error token the token has to be proven") {
		t.Errorf("without a token: %q", said)
	}
	r.is(r.dial(), 0, 0)
}

// Rows of another export, node or dimension are not served, nor taken, whatever token is known.
func TestServeIdentity(t *testing.T) {
	r := start(t, Options{Token: token})
	for name, change := range map[string]func(*Identity){
		"export": func(i *Identity) { i.Export = strings.Repeat("0", 64) },
		"node":   func(i *Identity) { i.Node = "bob" },
		"dim":    func(i *Identity) { i.Dim++ },
	} {
		of := r.identity()
		change(&of)
		if _, err := Dial("tcp", r.path, token, of); !errors.Is(err, ErrIdentity) {
			t.Errorf("another %s: %v", name, err)
		}
		conn, err := net.Dial("tcp", r.path)
		if err != nil {
			t.Fatal(err)
		}
		c := &Client{conn: conn} // that asks for a row all the same
		if err := c.greet(token, of); !errors.Is(err, ErrIdentity) {
			t.Errorf("another %s: %v", name, err)
		}
		if err := c.Row(0, 0, make([]float64, dim)); err == nil {
			t.Errorf("another %s: there is a row", name)
		}
		conn.Close()
	}
	if s, err := r.dial().State(); err != nil || s.Next != 0 {
		t.Errorf("a row is out: %+v, %v", s, err)
	}
}

// stranger listens in the place of a server that has crashed, without its token, and records what it is told.
type stranger struct {
	l    net.Listener
	said chan string
}

// startStranger answers every connection with replies, each to a line of the client; a reply can use what was said.
func startStranger(t *testing.T, address string, replies ...func(said []string) string) *stranger {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &stranger{l, make(chan string, 100)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in, said := bufio.NewReader(conn), []string(nil)
			for _, reply := range replies {
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				s.said <- line
				said = append(said, line)
				_, _ = io.WriteString(conn, reply(said))
			}
			conn.Close()
		}
	}()
	return s
}

// Who takes the port after a crash does not learn the token, and is not believed: not with zeros for rows, with the
// client's own nonce or proof sent back, with what the server has said in a session before, nor with an older
// version's greeting.
func TestServerThatDoesNotProveTheToken(t *testing.T) {
	r := start(t, Options{Token: token})
	old := record(t, r)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	nonce := func([]string) string { return greeting + strings.Repeat("0", 64) + "\n" }
	back := func(said []string) string { // the client's own nonce
		o, _ := readOpening(strings.TrimSpace(said[0]))
		return greeting + o.Nonce + "\n"
	}
	hello := "hello {\"protocol\":2,\"node\":\"ann\",\"dim\":5000,\"private\":true}\n"
	for name, replies := range map[string][]func([]string) string{
		"no proof":            {nonce, func([]string) string { return hello + strings.Repeat("\x00", 5000) }},
		"a proof of nothing":  {nonce, func([]string) string { return "proof " + strings.Repeat("0", 64) + "\n" }},
		"the client's proof":  {nonce, func(said []string) string { return said[1] }},
		"its nonce and proof": {back, func(said []string) string { return said[1] }},
		"an old session":      {func([]string) string { return old[0] }, func([]string) string { return old[1] }},
		"a proof with no token": {nonce, func(said []string) string {
			return newSession("", said[0], nonce(nil)).proof(serverProof)
		}},
		"hello at once": {func([]string) string { return hello }},
		"the version before": {func([]string) string {
			return "error protocol version 1 is spoken here, not \"2\"\n"
		}},
		"an escape sequence": {func([]string) string { return "error order \x1b]0;owned\x07\n" }},
	} {
		s := startStranger(t, r.path, replies...)
		c, err := Dial("tcp", r.path, token, r.identity())
		var told *Error
		if err == nil || len(replies) == 2 && !errors.Is(err, ErrProof) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		if name == "the version before" && (!errors.As(err, &told) || told.Code != CodeProtocol) {
			t.Errorf("%s: %v", name, err)
		}
		s.l.Close()
		close(s.said)
		for line := range s.said {
			if strings.Contains(line, token) {
				t.Errorf("%s: the token was sent: %q", name, line)
			}
		}
	}
	r.serve(false)
	r.is(r.dial(), 0, 0)
}

// record has a session and returns the lines of the server.
func record(t *testing.T, r *running) (lines []string) {
	t.Helper()
	_, taped := relayed(t, r.path, r.path, token, r.identity())
	if len(taped) != 2 {
		t.Fatalf("lines of the server: %q", taped)
	}
	return taped
}

// relayed connects through a relay at an address of its own; the client says that it has connected to the address
// told.
func relayed(t *testing.T, address, told, token string, of Identity) (*Client, []string) {
	t.Helper()
	here, there := net.Pipe()
	server, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(server, there)
	tape := make(chan []string, 1)
	go func() {
		in, lines := bufio.NewReader(server), []string(nil)
		for range 2 {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			lines = append(lines, line)
			_, _ = io.WriteString(there, line)
		}
		tape <- lines
		_, _ = in.WriteTo(there)
		there.Close()
	}()
	c := &Client{conn: addressed{here, told}}
	err = c.greet(token, of)
	lines := <-tape
	if err != nil {
		t.Log(err)
		return nil, lines
	}
	t.Cleanup(func() { here.Close(); server.Close() })
	return c, lines
}

// addressed is a connection to an address.
type addressed struct {
	net.Conn
	at string
}

func (a addressed) RemoteAddr() net.Addr {
	tcp, err := net.ResolveTCPAddr("tcp", a.at)
	if err != nil {
		panic(err)
	}
	return tcp
}

// Who listens at another address and passes everything on could read rows: the server finds that out, and draws none.
func TestServeRelay(t *testing.T) {
	r := start(t, Options{Token: token})
	if c, _ := relayed(t, r.path, "127.0.0.2:7070", token, r.identity()); c != nil {
		t.Error("a client that has connected to another address is served")
	}
	if c, _ := relayed(t, r.path, r.path, token, r.identity()); c == nil {
		t.Error("the test's relay does not work")
	}
	if s, err := r.dial().State(); err != nil || s.Next != 0 {
		t.Errorf("a row is out: %+v, %v", s, err)
	}
}

// Who replays all that a client has sent gets no row.
func TestServeReplay(t *testing.T) {
	r := start(t, Options{Token: token})
	tapped, from := net.Pipe()
	server, err := net.Dial("tcp", r.path)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(from, server)
	var tape bytes.Buffer
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(server, io.TeeReader(from, &tape))
		close(done)
	}()
	c := &Client{conn: addressed{tapped, r.path}}
	if err := c.greet(token, r.identity()); err != nil {
		t.Fatal(err)
	}
	if err := c.Row(0, 0, make([]float64, dim)); err != nil {
		t.Fatal(err)
	}
	tapped.Close()
	<-done
	conn, err := net.Dial("tcp", r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(tape.Bytes()); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(io.LimitReader(conn, 10000))
	if _, after, _ := strings.Cut(string(said), "\n"); after != "" && !strings.HasPrefix(after, "error token") {
		t.Errorf("a replay gets %.200q", said)
	}
}

// Clients connect to addresses of this machine alone: rows are not encrypted.
func TestDialOtherMachines(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	c := &Client{conn: addressed{here, "192.0.2.1:7070"}}
	if err := c.greet(token, Identity{}); !errors.Is(err, ErrLoopback) {
		t.Errorf("%v", err)
	}
}

// Hundreds of connections that say nothing, that say something a byte at a time, and that stay with a nonce, keep
// nobody out who proves the token.
func TestStrangersKeepNobodyOut(t *testing.T) {
	r := start(t, Options{Token: token})
	line, err := opening{Identity: Identity{r.identity().Export, "ann", dim}, Address: r.path, Nonce: newNonce(),
		Token: true}.line()
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	connect := func(says string) {
		conn, err := net.Dial("tcp", r.path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, says) // it may have been hung up on
		open = append(open, conn)
	}
	first := r.dial()
	for i := range 500 {
		connect([]string{"", line[:1+i%100], line}[i%3])
		if i%100 == 99 {
			r.is(r.dial(), i/100, i/100)
		}
	}
	stop := make(chan struct{})
	slow := make(chan struct{})
	go func() { // a byte to everybody, again and again
		defer close(slow)
		for {
			for _, c := range open {
				_ = c.SetWriteDeadline(time.Now().Add(time.Second))
				_, _ = io.WriteString(c, "x")
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	for range 20 {
		r.is(r.dial(), 4, 4)
	}
	close(stop)
	<-slow
	r.is(first, 4, 4)
}

// Strangers who connect without end, as fast as they can, keep nobody out either.
func TestStrangersThatComeBack(t *testing.T) {
	r := start(t, Options{Token: token})
	stop, done := make(chan struct{}), make(chan int, 4)
	for range cap(done) {
		go func() {
			open, count := map[int]net.Conn{}, 0
			for ; ; count++ {
				select {
				case <-stop:
					for c := range maps.Values(open) {
						c.Close()
					}
					done <- count
					return
				default:
				}
				if conn, err := net.DialTimeout("tcp", r.path, time.Second); err == nil {
					if old := open[count%200]; old != nil {
						old.Close()
					}
					open[count%200] = conn
				}
			}
		}()
	}
	tries := 0
	for range 5 {
		r.is(r.dialAgain(&tries), 0, 0)
	}
	close(stop)
	total := 0
	for range cap(done) {
		total += <-done
	}
	t.Logf("%d connections of strangers, %d of the owner", total, tries)
}

// dialAgain is dial for an owner who tries again: on a busy machine it can lose its place before it has proven the token.
func (r *running) dialAgain(tries *int) *Client {
	r.t.Helper()
	var err error
	for range 50 {
		*tries++
		var c *Client
		if c, err = Dial(r.network, r.path, r.options.Token, r.identity()); err == nil {
			r.t.Cleanup(func() { c.conn.Close() })
			return c
		}
	}
	r.t.Fatal(err)
	return nil
}

// A connection that has not proven the token is hung up on, however slowly it speaks.
func TestServeSlowHandshake(t *testing.T) {
	r := start(t, Options{Token: token, Patience: 300 * time.Millisecond})
	conn, err := net.Dial("tcp", r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(conn)
		ended <- err
	}()
	for {
		_, _ = io.WriteString(conn, "m")
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A client can be closed while a server that has stopped owes it a row: once Close waited for the row.
func TestCloseEndsARequest(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	key := []byte("key")
	c := &Client{conn: near, from: newOpener(bufio.NewReader(near), key), to: newSealer(near, key)}
	ended := make(chan error, 1)
	go func() { ended <- c.Row(0, 0, make([]float64, 4)) }()
	if _, err := io.ReadFull(far, make([]byte, len("row 0 float64 0 4")+4+sha256.Size)); err != nil { // it is under way
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a row of nobody")
	}
}
