package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/noise"
	"mafalda/strategy"
)

const steps, dim = 6, 5000

// exported writes an export of two nodes, for so many steps.
func exported(t testing.TB, steps int) string {
	t.Helper()
	c, err := strategy.NewBLT(steps, 1, []strategy.Section{{P: 0.3, A: 0.9}})
	if err != nil {
		t.Fatal(err)
	}
	var lower mat.TriDense
	c.StrategyTo(&lower)
	norm := 0.
	for i := range steps { // the first column has the largest norm
		norm = math.Hypot(norm, lower.At(i, 0))
	}
	scaled := c.Scaled(1 / norm)
	dir := filepath.Join(t.TempDir(), "out")
	m := &export.Manifest{Version: "test", Workload: "prefix", Steps: steps,
		Participation: export.Participation{Schema: "single", K: 1, B: steps}, Strategy: export.Describe(scaled),
		SensSquared: 1, SensKind: "exact", SquaredError: 2, Loss: 2, RMSE: 1, LowerBound: 1.9, Gap: 0.1, Tolerance: 0.1,
		Status: "converged", Graph: &graph.Origin{Source: "path:2", Nodes: 2, Edges: 1, Gossip: "uniform"},
		Privacy: &export.Privacy{Mu: 0.5, Sigma: 2, Clip: 1, Adjacency: "zero-out", NoiseStd: 2}}
	nodes := export.Bytes("nodes.csv", []byte("index,label,degree\n0,ann,1\n1,bob,1\n"))
	if err := export.WriteDir(dir, m, []export.File{nodes}, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// running is a server with the rows that it is to serve.
type running struct {
	t             *testing.T
	dir, at, path string // export, state, socket
	rows          [][]float64
	stop          func() error // ends the server and returns its error
	options       Options
}

var seed = uint64(3)

func start(t *testing.T, o Options) *running {
	t.Helper()
	folder := t.TempDir()
	r := &running{t: t, dir: exported(t, steps), at: filepath.Join(folder, "state"), path: filepath.Join(folder, "s"),
		options: o}
	s, err := noise.Open(r.dir, "ann", dim, noise.Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
		row := make([]float64, dim)
		if err := s.Next(row); err != nil {
			t.Fatal(err)
		}
		r.rows = append(r.rows, row)
	}
	r.serve(true)
	return r
}

func (r *running) serve(fresh bool) {
	r.t.Helper()
	i, err := noise.OpenIssuer(r.dir, "ann", dim, noise.State{Path: r.at, New: fresh}, noise.Options{Seed: &seed})
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := ListenUnix(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, i, r.options) }()
	ended := false
	r.stop = func() error {
		if ended {
			return nil
		}
		ended = true
		cancel()
		return errors.Join(<-done, i.Close())
	}
	r.t.Cleanup(func() { r.stop() })
}

func (r *running) dial() *Client {
	r.t.Helper()
	c, err := Dial("unix", r.path, r.options.Token)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.conn.Close() })
	return c
}

// is fails unless the row of a step is the sum of these rows, in both formats, whole and in ranges.
func (r *running) is(c *Client, step int, of ...int) {
	r.t.Helper()
	want := slices.Clone(r.rows[of[0]])
	for _, s := range of[1:] {
		for i, v := range r.rows[s] {
			want[i] += v
		}
	}
	got, single, some := make([]float64, dim), make([]float32, dim), make([]float64, 700)
	for _, err := range []error{c.Row(step, 0, got), c.RowFloat32(step, 0, single), c.Row(step, 4300, some)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	for i, v := range want {
		if got[i] != v || single[i] != float32(v) || i >= 4300 && some[i-4300] != v {
			r.t.Fatalf("number %d of row %d is %v and %v, not %v", i, step, got[i], single[i], v)
		}
	}
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var said *Error
	if !errors.As(err, &said) || said.Code != code {
		t.Errorf("%v, where %q is expected", err, code)
	}
}

// A run with everything in it: rows, again, in both formats and ranges, rows that were never sent, messages that are
// declared, a second client, and a server that comes back.
func TestServe(t *testing.T) {
	r := start(t, Options{})
	c := r.dial()
	if h := c.Hello(); h.Protocol != 1 || h.Node != "ann" || h.Steps != steps || h.Dim != dim || h.NoiseStd != 2 ||
		h.Private || h.Next != 0 || h.Issued != nil || h.Sending != nil || len(h.Unsent) != 0 || len(h.Export) != 64 {
		t.Errorf("%+v", h)
	}
	r.is(c, 0, 0)
	r.is(r.dial(), 0, 0)
	refused(t, c.Row(2, 0, make([]float64, dim)), CodeOrder)
	r.is(c, 1, 1)
	refused(t, c.Row(0, 0, make([]float64, dim)), CodeOrder)
	for range 2 {
		if err := c.Unsent(1); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Unsent(2); err != nil {
		t.Fatal(err)
	}
	refused(t, c.Row(2, 0, make([]float64, dim)), CodeOrder)
	r.is(c, 3, 1, 2, 3)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.State(); err == nil {
		t.Error("a server that has ended answers")
	}
	r.serve(false)
	c = r.dial()
	r.is(c, 3, 1, 2, 3)
	digest := strings.Repeat("ab", 32)
	for range 2 {
		if err := c.Sending(3, digest); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, c.Sending(3, strings.Repeat("ac", 32)), CodeSent)
	refused(t, c.Unsent(3), CodeSent)
	s, err := c.State()
	if err != nil || s.Next != 4 || *s.Issued != 3 || *s.Sending != digest {
		t.Errorf("%+v, %v", s, err)
	}
	r.is(c, 4, 4)
	r.is(c, 5, 5)
	refused(t, c.Row(6, 0, make([]float64, dim)), CodeExhausted)
	refused(t, c.Unsent(6), CodeExhausted)
	r.is(c, 5, 5)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// raw sends lines and returns what comes back until the server hangs up, or asked to.
func (r *running) raw(lines ...string) string {
	r.t.Helper()
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	go io.WriteString(conn, strings.Join(append(lines, "close"), "\n")+"\n")
	text, err := io.ReadAll(conn)
	if err != nil && len(text) == 0 {
		r.t.Fatal(err)
	}
	return string(text)
}

// Lines that are none are refused with a word, and move nothing.
func TestServeMalformed(t *testing.T) {
	r := start(t, Options{})
	hello := "mafalda 1"
	for _, tc := range []struct {
		lines []string
		want  string
	}{
		{[]string{""}, "error protocol"}, {[]string{"GET / HTTP/1.1"}, "error protocol"},
		{[]string{"mafalda"}, "error protocol"},
		{[]string{"mafalda 2"}, "error protocol version 1"}, {[]string{"mafalda 1 token"}, "error protocol no token"},
		{[]string{"mafalda 1\r"}, "error protocol"},
		{[]string{strings.Repeat("x", 5000)}, "error protocol a line of more"},
		{[]string{hello, ""}, "error protocol"}, {[]string{hello, "row"}, "error protocol"},
		{[]string{hello, "row 0"}, "error protocol"}, {[]string{hello, "row 0 float16"}, "error protocol"},
		{[]string{hello, "row  0 float64"}, "error protocol"}, {[]string{hello, "row 0 float64 "}, "error protocol"},
		{[]string{hello, "row 00 float64"}, "error protocol"}, {[]string{hello, "row +0 float64"}, "error protocol"},
		{[]string{hello, "row -1 float64"}, "error protocol"},
		{[]string{hello, "row 99999999999999999999 float64"}, "error protocol"},
		{[]string{hello, "row 0 float64 0"}, "error protocol"}, {[]string{hello, "ROW 0 float64"}, "error protocol"},
		{[]string{hello, "row 0 float64 \xff 3"}, "error protocol"},
		{[]string{hello, "row 0 float64 0 0"}, "error range"},
		{[]string{hello, "row 0 float64 5000 1"}, "error range"},
		{[]string{hello, "row 0 float64 1 5000"}, "error range"},
		{[]string{hello, "row 0 float64 0 9223372036854775807"}, "error range"},
		{[]string{hello, "row 0 float64 9223372036854775807 9223372036854775807"}, "error range"},
		{[]string{hello, "unsent"}, "error protocol"}, {[]string{hello, "unsent x"}, "error protocol"},
		{[]string{hello, "unsent 3"}, "error order"}, {[]string{hello, "sending 0"}, "error protocol"},
		{[]string{hello, "sending 0 abc"}, "error protocol"},
		{[]string{hello, "sending 0 " + strings.Repeat("a", 64)}, "error order"},
		{[]string{hello, "sending 0 " + strings.Repeat("g", 64)}, "error protocol"},
		{[]string{hello, "state now"}, "error protocol"},
		{[]string{hello, strings.Repeat("row ", 2000)}, "error protocol"},
	} {
		said := r.raw(tc.lines...)
		if len(tc.lines) > 1 {
			_, said, _ = strings.Cut(said, "\n")
		}
		if !strings.HasPrefix(said, tc.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%.60q: %.200q, where %q is expected", tc.lines, said, tc.want)
		}
	}
	if s, err := r.dial().State(); err != nil || s.Next != 0 {
		t.Errorf("after all this: %+v, %v", s, err)
	}
}

// A client that does not read, or says nothing, is hung up on, and the row is still there for the others; so it is if
// one vanishes in the middle of it.
func TestServeClientsThatStop(t *testing.T) {
	r := start(t, Options{Patience: 200 * time.Millisecond})
	for _, line := range []string{"", "mafalda 1", "mafalda 1\n" + strings.Repeat("row 0 float64\n", 44)} {
		conn, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.WriteString(conn, "mafalda 1\nrow 0 float64\n"); err == nil {
		_, err = bufio.NewReader(io.LimitReader(conn, 1000)).ReadString('\n')
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, dim)
	for start := time.Now(); ; { // this one may be slow, too, and be hung up on
		c, err := Dial("unix", r.path, "")
		if err == nil {
			err = errors.Join(c.Row(0, 0, got), c.Close())
		}
		if err == nil {
			break
		}
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("others still wait: %v", err)
		}
	}
	if !slices.Equal(got, r.rows[0]) {
		t.Error("the row is another one")
	}
}

// After an error of the state there are no more rows: the client is told, and the server ends with it.
func TestServeEnds(t *testing.T) {
	r := start(t, Options{})
	c := r.dial()
	r.is(c, 0, 0)
	if err := os.Remove(r.at); err != nil {
		t.Skip("the system does not remove open files")
	}
	refused(t, c.Row(1, 0, make([]float64, dim)), CodeIO)
	if err := r.stop(); !errors.Is(err, noise.ErrState) {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := os.Stat(r.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its socket: %v", err)
	}
}

// A socket is its owner's; one that nobody listens on is replaced, and nothing else is.
func TestListenUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := ListenUnix(path); !errors.Is(err, ErrListening) {
		t.Errorf("a second one: %v", err)
	}
	l.(*socket).UnixListener.Close() // killed: the name stays
	if l, err = ListenUnix(path); err != nil {
		t.Fatalf("where a dead one was: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket of another one was removed: %v", err)
	}
	other.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket stays")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("where a file is: %v", err)
	}
	if _, err := ListenUnix(filepath.Join(t.TempDir(), strings.Repeat("x", 200))); err == nil ||
		!strings.Contains(err.Error(), "about 100") {
		t.Errorf("a long path: %v", err)
	}
}

// Only addresses of this machine, with a token that others cannot read.
func TestListenLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.168.0.1:0", "localhost:0", "[::]:0", "example.org:1",
		"127.0.0.1", ""} {
		if l, err := ListenLoopback(address); !errors.Is(err, ErrLoopback) {
			t.Errorf("%q: %v", address, err)
			if err == nil {
				l.Close()
			}
		}
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "token")
	token, err := ReadToken(path)
	if err != nil || len(token) < shortestToken {
		t.Fatal(token, err)
	}
	if again, err := ReadToken(path); err != nil || again != token {
		t.Error(again, err)
	}
	for name, content := range map[string]string{"short": "x\n", "words": "0123456789 0123456789\n",
		"long": strings.Repeat("x", 2000)} {
		other := filepath.Join(folder, name)
		if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadToken(other); err == nil {
			t.Errorf("%s: it is a token", name)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadToken(path); runtime.GOOS != "windows" && !errors.Is(err, ErrToken) {
		t.Errorf("for everybody: %v", err)
	}
}

// Without the token there is no row.
func TestServeToken(t *testing.T) {
	r := start(t, Options{Token: "0123456789abcdef"})
	for _, greeting := range []string{"mafalda 1", "mafalda 1 ", "mafalda 1 0123456789abcdeg",
		"mafalda 1 0123456789abcdef x",
		"mafalda 1 0123456789abcde"} {
		said := r.raw(greeting, "row 0 float64")
		if !strings.HasPrefix(said, "error token") || strings.Count(said, "\n") != 1 {
			t.Errorf("%q: %.100q", greeting, said)
		}
	}
	r.is(r.dial(), 0, 0)
}

// Single precision that cannot hold the numbers is refused before there is a row.
func TestServeSingle(t *testing.T) {
	at := noise.State{Path: filepath.Join(t.TempDir(), "state"), New: true}
	i, err := noise.OpenIssuer(exported(t, steps), "ann", 3, at,
		noise.Options{NoiseStd: 1e200})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	here, there := net.Pipe()
	l := &once{conns: make(chan net.Conn, 1)}
	l.conns <- there
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, i, Options{}) }()
	in := bufio.NewReader(here)
	for _, tc := range [][2]string{{"mafalda 1", "hello"}, {"row 0 float32", "error range"},
		{"state", `state {"protocol":1`}} {
		fmt.Fprintln(here, tc[0])
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, tc[1]) {
			t.Errorf("%s: %q, %v", tc[0], line, err)
		}
	}
	if at := i.Standing(); at.Next != 0 {
		t.Errorf("a row is out: %+v", at)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// once listens on what it is given.
type once struct{ conns chan net.Conn }

func (o *once) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (o *once) Close() (err error) {
	defer func() { _ = recover() }()
	close(o.conns)
	return nil
}
func (o *once) Addr() net.Addr { return &net.UnixAddr{Name: "once"} }
