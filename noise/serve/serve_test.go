package serve

import (
	"context"
	"crypto/sha256"
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
	"mafalda/workload"
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
	m := &export.Manifest{Version: "test", Workload: "prefix", WorkloadSpec: &workload.Spec{Kind: workload.Prefix}, Steps: steps,
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

// running is a server with the rows that it is to serve: at a loopback address if there is a token.
type running struct {
	t             *testing.T
	dir, at, path string // export, state, and where it listens
	network       string
	rows          [][]float64
	stop          func() error // ends the server and returns its error
	options       Options
}

var seed = uint64(3)

func start(t *testing.T, o Options) *running {
	t.Helper()
	folder := t.TempDir()
	r := &running{t: t, dir: exported(t, steps), at: filepath.Join(folder, "state"), path: filepath.Join(folder, "s"),
		network: "unix", options: o}
	if o.Token != "" {
		r.network, r.path = "tcp", "127.0.0.1:0"
	}
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
	var l net.Listener
	if r.network == "unix" {
		l, err = ListenUnix(r.path)
	} else {
		l, err = ListenLoopback(r.path)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.path = Address(l)
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
	c, err := Dial(r.network, r.path, r.options.Token, r.identity())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.conn.Close() })
	return c
}

func (r *running) identity() Identity { return identityOf(r.dir, dim) }

// identityOf says what ann's rows are.
func identityOf(dir string, dim int) Identity {
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		panic(err)
	}
	return Identity{fmt.Sprintf("%x", sha256.Sum256(manifest)), "ann", dim}
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
	if h := c.Hello(); h.Protocol != Version || h.Node != "ann" || h.Steps != steps || h.Dim != dim || h.NoiseStd != 2 ||
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
	conn, err := net.Dial(r.network, r.path)
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

// Lines and requests that are none are refused with a word, and move nothing.
func TestServeMalformed(t *testing.T) {
	r := start(t, Options{})
	first := func(change func(o *opening)) string {
		o := opening{Identity: Identity{r.identity().Export, "ann", dim}, Nonce: newNonce()}
		change(&o)
		line, err := o.line()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(line, "\n")
	}
	good := first(func(*opening) {})
	for _, tc := range [][2]string{
		{"", "error protocol"}, {"GET / HTTP/1.1", "error protocol"}, {"mafalda", "error protocol"},
		{"mafalda 1", `error protocol version 2 is spoken here, not "1"`},
		{"mafalda 1 0123456789abcdef", `error protocol version 2 is spoken here, not "1"`},
		{"mafalda 3 {}", `error protocol version 2 is spoken here, not "3"`},
		{"mafalda 2", "error protocol"}, {"mafalda 2 {}", "error protocol the first line has no nonce"},
		{good + "{}", "error protocol"}, {"mafalda 2  {}", "error protocol"},
		{strings.Repeat("x", 5000), "error protocol a line of more"},
		{good[:len(good)-1] + `,"dim":1}`, "error protocol"},
		{first(func(o *opening) { o.Nonce = "abc" }), "error protocol the first line has no nonce"},
		{first(func(o *opening) { o.Token = true }), "error token no token is expected"},
		{first(func(o *opening) { o.Address = "127.0.0.1:70" }), "error token the client has connected to"},
		{good + "\nproof " + strings.Repeat("0", 64), "error token that is not the token"},
		{good + "\nrow 0 float64", "error token that is not the token"},
	} {
		said := r.raw(tc[0])
		if strings.Contains(tc[0], "\n") { // after the nonce
			_, said, _ = strings.Cut(said, "\n")
		}
		if !strings.HasPrefix(said, tc[1]) || strings.Count(said, "\n") != 1 {
			t.Errorf("%.60q: %.200q, where %q is expected", tc[0], said, tc[1])
		}
	}
	for _, tc := range [][2]string{
		{"row", "protocol"}, {"row 0", "protocol"}, {"row 0 float16", "protocol"}, {"row  0 float64", "protocol"},
		{"row 0 float64 ", "protocol"}, {"row 00 float64", "protocol"}, {"row +0 float64", "protocol"},
		{"row -1 float64", "protocol"}, {"row 99999999999999999999 float64", "protocol"},
		{"row 0 float64 0", "protocol"},
		{"ROW 0 float64", "protocol"}, {"row 0 float64 \xff 3", "protocol"}, {"row 0 float64 0 0", "range"},
		{"row 0 float64 5000 1", "range"}, {"row 0 float64 1 5000", "range"},
		{"row 0 float64 0 9223372036854775807", "range"},
		{"row 0 float64 9223372036854775807 9223372036854775807", "range"}, {"unsent", "protocol"},
		{"unsent x", "protocol"}, {"unsent 3", "order"}, {"sending 0", "protocol"}, {"sending 0 abc", "protocol"},
		{"sending 0 " + strings.Repeat("a", 64), "order"}, {"sending 0 " + strings.Repeat("g", 64), "protocol"},
		{"state now", "protocol"}, {"state\n", "protocol"}, {strings.Repeat("row ", 1000), "protocol"},
		{strings.Repeat("x", MaxLine+1), "protocol"}, {"", "protocol"},
	} {
		c := r.dial()
		if err := c.send(tc[0]); err != nil {
			t.Fatal(err)
		}
		_, err := c.hear()
		refused(t, err, tc[1])
		if _, err := c.State(); (tc[1] == CodeProtocol) != (err != nil) {
			t.Errorf("%.60q: afterwards %v", tc[0], err)
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
	for _, line := range []string{"", "mafalda 2", "mafalda 2 {}\n"} {
		conn, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
	}
	vanishes, deaf := r.dial(), r.dial()
	if err := vanishes.send("row 0 float64"); err != nil {
		t.Fatal(err)
	}
	if _, err := vanishes.hear(); err != nil {
		t.Fatal(err)
	}
	vanishes.conn.Close()
	for range 44 {
		if err := deaf.send("row 0 float64"); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]float64, dim)
	for start := time.Now(); ; { // this one may be slow, too, and be hung up on
		c, err := Dial("unix", r.path, "", r.identity())
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
	c := &Client{conn: here}
	if err := c.greet("", Identity{i.Stream().Export(), "ann", 3}); err != nil {
		t.Fatal(err)
	}
	refused(t, c.RowFloat32(0, 0, make([]float32, 3)), CodeRange)
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

// A client hears what is spent, and of the row that would pass the node's budget, which is not drawn; the server goes on.
func TestServeBudget(t *testing.T) {
	dir, folder := exported(t, steps), t.TempDir()
	at := noise.State{Path: filepath.Join(folder, "state"), New: true}
	limit := noise.Limit{Mu: 0.45} // of 0.5
	i, err := noise.OpenIssuer(dir, "ann", dim, at, noise.Options{Limit: &limit})
	if err != nil {
		t.Fatal(err)
	}
	end := i.Stream().End()
	if end < 1 || end >= steps {
		t.Fatalf("a budget for %d of %d rows says nothing", end, steps)
	}
	l, err := ListenUnix(filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, i, Options{}) }()
	c, err := Dial("unix", Address(l), "", Identity{i.Stream().Export(), "ann", dim})
	if err != nil {
		t.Fatal(err)
	}
	if h := c.Hello(); h.End == nil || *h.End != end || h.Limit == nil || *h.Limit != limit {
		t.Errorf("hello: %+v", h)
	}
	row := make([]float64, dim)
	for step := range end {
		if s, err := c.Spent(); err != nil || s.Steps != step || *s.Mu > limit.Mu {
			t.Fatalf("before row %d: %v, %v", step, s, err)
		}
		if err := c.Row(step, 0, row); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		refused(t, c.Row(end, 0, row), CodeBudget)
		refused(t, c.Unsent(end), CodeBudget)
	}
	if s, err := c.Spent(); err != nil || s.Steps != end || *s.Mu > limit.Mu {
		t.Errorf("at the end: %v, %v", s, err)
	}
	if err := c.Row(end-1, 0, row); err != nil { // the same again
		t.Error(err)
	}
	if err := c.Unsent(end - 1); err != nil {
		t.Error(err)
	}
	if s, err := c.Spent(); err != nil || s.Steps != end-1 {
		t.Errorf("after a message that was never sent: %v, %v", s, err)
	}
	cancel()
	if err := errors.Join(<-done, i.Close()); err != nil {
		t.Error(err)
	}
}
