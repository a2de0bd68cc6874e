//go:build unix

package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mafalda/noise"
)

// TestMain runs a child process where a test asks for one.
func TestMain(m *testing.M) {
	if args := os.Getenv("SERVE_CHILD"); args != "" {
		a := strings.Split(args, "\n")
		if a[0] == "server" {
			serverProcess(a[1], a[2])
		} else {
			nodeProcess(a[1], a[2], a[3])
		}
		return
	}
	os.Exit(m.Run())
}

const killSteps, killDim = 80, 32

// serverProcess serves the state in a folder until it is killed.
func serverProcess(dir, folder string) {
	path := filepath.Join(folder, "state")
	_, missing := os.Stat(path)
	i, err := noise.OpenIssuer(dir, "ann", killDim, noise.State{Path: path, New: missing != nil}, noise.Options{Seed: &seed})
	var l net.Listener
	if err == nil {
		l, err = ListenUnix(filepath.Join(folder, "s"))
	}
	if err == nil {
		err = Serve(context.Background(), l, i, Options{})
	}
	fmt.Fprintln(os.Stderr, "server:", err)
	os.Exit(1)
}

// node is a trainer that may be killed at any moment. A message is a gradient, which is another one whenever it is
// computed, and the row that was added to it. It is on disk (outbox) before it is declared, and declared before it is
// sent.
type node struct {
	outbox, network string
	c               *Client
	acknowledged    int // the last step whose message the network has, as far as this process knows
}

func nodeProcess(dir, folder, network string) {
	n := &node{outbox: filepath.Join(folder, "outbox"), network: network, acknowledged: -1}
	for {
		var err error
		if n.c, err = Dial("unix", filepath.Join(folder, "s"), "", identityOf(dir, killDim)); err == nil {
			for more := true; more && err == nil; {
				more, err = n.step()
			}
			n.c.conn.Close()
			if err == nil {
				return // all steps are done
			}
		}
		if refused := (*Error)(nil); errors.As(err, &refused) {
			fmt.Fprintln(os.Stderr, "node:", err)
			os.Exit(1)
		}
		time.Sleep(time.Millisecond) // the server was killed
	}
}

// step does what is to be done next.
func (n *node) step() (more bool, err error) {
	at, err := n.c.State()
	if err != nil {
		return false, err
	}
	if at.Issued != nil && *at.Issued != n.acknowledged {
		t := *at.Issued
		kept, digest := n.kept(t)
		switch {
		case at.Sending != nil && (kept == nil || digest != *at.Sending):
			return false, &Error{"node", "a message was declared that is not in the outbox"}
		case at.Sending != nil || kept != nil && rand.N(3) == 0:
			return true, n.send(t, kept, digest)
		case rand.N(2) == 0:
			return true, n.c.Unsent(t)
		}
		return true, n.message(t)
	}
	switch {
	case at.Next == at.Steps:
		return false, nil
	case rand.N(8) == 0:
		return true, n.c.Unsent(at.Next)
	}
	return true, n.message(at.Next)
}

// message asks for a row, computes a message and sends it.
func (n *node) message(t int) error {
	row := make([]float64, killDim)
	if err := n.c.Row(t, 0, row); err != nil {
		return err
	}
	var text bytes.Buffer
	_ = binary.Write(&text, binary.LittleEndian, uint64(t))
	_ = binary.Write(&text, binary.LittleEndian, rand.Uint64()) // the gradient
	_ = binary.Write(&text, binary.LittleEndian, row)
	if err := os.WriteFile(n.outbox+".new", text.Bytes(), 0o600); err != nil {
		return &Error{"node", err.Error()}
	}
	if err := os.Rename(n.outbox+".new", n.outbox); err != nil {
		return &Error{"node", err.Error()}
	}
	sum := sha256.Sum256(text.Bytes())
	return n.send(t, text.Bytes(), hex.EncodeToString(sum[:]))
}

// kept returns the message of step t from the outbox.
func (n *node) kept(t int) (text []byte, digest string) {
	text, err := os.ReadFile(n.outbox)
	if err != nil || binary.LittleEndian.Uint64(text) != uint64(t) {
		return nil, ""
	}
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:])
}

// send declares a message and sends it, in two pieces, until the network has it.
func (n *node) send(t int, text []byte, digest string) error {
	if err := n.c.Sending(t, digest); err != nil {
		return err
	}
	conn, err := net.Dial("unix", n.network)
	if err != nil {
		return &Error{"node", err.Error()}
	}
	defer conn.Close()
	half := rand.N(len(text))
	for _, piece := range [][]byte{text[:half], text[half:]} {
		if _, err := conn.Write(piece); err != nil {
			return &Error{"node", err.Error()}
		}
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return &Error{"node", err.Error()}
	}
	n.acknowledged = t
	return nil
}

// recorder is the network: it keeps all that was ever sent, parts of messages too.
type recorder struct {
	sync.Mutex
	l    net.Listener
	open sync.WaitGroup
	seen [][]byte
}

func newRecorder(t *testing.T, path string) *recorder {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &recorder{l: l}
	r.open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.open.Go(func() {
				defer conn.Close()
				text := make([]byte, 16+8*killDim)
				n, err := io.ReadFull(conn, text)
				r.Lock()
				r.seen = append(r.seen, text[:n])
				r.Unlock()
				if err == nil {
					_, _ = conn.Write([]byte{1})
				}
			})
		}
	})
	return r
}

// check finds rows that protected two gradients, and steps without their row or its carry. It returns how many messages
// there were, and how many rows were carried.
func (r *recorder) check(t *testing.T, rows [][]float64) (messages, carried int) {
	r.l.Close()
	r.open.Wait()
	of := make([][]byte, len(rows)) // the longest part seen of every step's message
	for _, text := range r.seen {
		if len(text) < 8 {
			continue // not even its step
		}
		step := int(binary.LittleEndian.Uint64(text))
		short, long := of[step], text
		if len(short) > len(long) {
			short, long = long, short
		}
		if !bytes.HasPrefix(long, short) {
			t.Errorf("step %d was sent with two gradients, or with two rows", step)
		}
		of[step] = long
	}
	var sum []float64
	for step, row := range rows {
		if sum == nil {
			sum = append(sum, row...)
		} else {
			for i, v := range row {
				sum[i] += v
			}
		}
		if len(of[step]) < 16+8*killDim {
			if of[step] != nil {
				t.Errorf("step %d was sent in part, and never again", step)
			}
			carried++
			continue
		}
		got := make([]float64, killDim)
		_ = binary.Read(bytes.NewReader(of[step][16:]), binary.LittleEndian, got)
		for i, v := range sum {
			if got[i] != v {
				t.Fatalf("the message of step %d has not the rows that were not sent before it, and its own", step)
			}
		}
		sum = nil
		messages++
	}
	return messages, carried
}

// child is a process that is started again whenever it was killed.
type child struct {
	cmd    *exec.Cmd
	done   chan error
	stderr bytes.Buffer
}

func startChild(t *testing.T, args ...string) *child {
	c := &child{cmd: exec.Command(os.Args[0]), done: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), "SERVE_CHILD="+strings.Join(args, "\n"))
	c.cmd.Stderr = &c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.done <- c.cmd.Wait() }()
	return c
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// TestKills: server and trainer are killed at random moments, again and again. No row goes out with two gradients, and
// every row arrives, in the message of its step or in the next one. MAFALDA_KILLS says how many kills; 1000 take some
// minutes.
func TestKills(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 15
	}
	if n, err := strconv.Atoi(os.Getenv("MAFALDA_KILLS")); err == nil {
		kills = n
	}
	dir := exported(t, killSteps)
	s, err := noise.Open(dir, "ann", killDim, noise.Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for range killSteps {
		row := make([]float64, killDim)
		if err := s.Next(row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	k := &killing{t: t, dir: dir, left: kills}
	for k.left > 0 {
		folder := t.TempDir()
		network := newRecorder(t, filepath.Join(folder, "network"))
		k.run(folder)
		m, c := network.check(t, rows)
		k.messages, k.carried, k.runs = k.messages+m, k.carried+c, k.runs+1
	}
	t.Logf("%d kills of the server, %d of the trainer, in %d runs of %d steps: %d messages, %d rows carried", k.ofServer,
		k.ofNode, k.runs, killSteps, k.messages, k.carried)
}

type killing struct {
	t                       *testing.T
	dir                     string
	left, ofServer, ofNode  int
	messages, carried, runs int
}

// run trains once, with kills until there are none left.
func (k *killing) run(folder string) {
	server := startChild(k.t, "server", k.dir, folder)
	trainer := startChild(k.t, "node", k.dir, folder, filepath.Join(folder, "network"))
	defer func() { server.kill() }()
	for {
		pause := time.Duration(rand.N(60)) * time.Millisecond
		if k.left == 0 {
			pause = time.Minute
		}
		select {
		case err := <-trainer.done:
			if err != nil {
				k.t.Fatalf("the trainer: %v: %s", err, &trainer.stderr)
			}
			return
		case err := <-server.done:
			k.t.Errorf("the server: %v: %s", err, &server.stderr)
			server.done <- err
			trainer.kill()
			return
		case <-time.After(pause):
		}
		if k.left == 0 {
			trainer.kill()
			k.t.Fatal("the trainer does not end")
		}
		k.left--
		if rand.N(2) == 0 {
			k.ofServer++
			server.kill()
			server = startChild(k.t, "server", k.dir, folder)
		} else {
			k.ofNode++
			trainer.kill()
			trainer = startChild(k.t, "node", k.dir, folder, filepath.Join(folder, "network"))
		}
	}
}

// After an error of the state there are no more rows: the client is told, and the server ends with it.
func TestServeEnds(t *testing.T) {
	r := start(t, Options{})
	c := r.dial()
	r.is(c, 0, 0)
	if err := os.Remove(r.at); err != nil {
		t.Fatal(err)
	}
	refused(t, c.Row(1, 0, make([]float64, dim)), CodeIO)
	if err := r.stop(); !errors.Is(err, noise.ErrState) {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := os.Stat(r.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its socket: %v", err)
	}
}
