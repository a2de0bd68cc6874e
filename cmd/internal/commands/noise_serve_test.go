package commands

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mafalda/noise/serve"
)

// served is a server in a process of its own.
type served struct {
	t      *testing.T
	dir    string // the export
	cmd    *exec.Cmd
	at     string // where it listens
	errors bytes.Buffer
}

func startServer(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{t: t, dir: args[0], cmd: noiseProcess(append([]string{"noise", "serve"}, args...)...)}
	s.cmd.Stderr = &s.errors
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	var ok bool
	if s.at, ok = strings.CutPrefix(strings.TrimSpace(line), "listening on "); err != nil || !ok {
		_ = s.cmd.Wait()
		t.Fatalf("%v: it says %q, %s", err, line, &s.errors)
	}
	return s
}

// medici says what the rows of a server are.
func (s *served) medici(dim int) serve.Identity {
	manifest, err := os.ReadFile(filepath.Join(s.dir, "manifest.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return serve.Identity{Export: fmt.Sprintf("%x", sha256.Sum256(manifest)), Node: "Medici", Dim: dim}
}

// row asks for a row of 50 numbers.
func (s *served) row(network, token string, step int) []float64 {
	s.t.Helper()
	c, err := serve.Dial(network, s.at, token, s.medici(50))
	row := make([]float64, 50)
	if err == nil {
		err = c.Row(step, 0, row)
	}
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return row
}

// A server hands out rows, the same ones after it was killed; it has its state and its place alone, and ends cleanly.
func TestNoiseServe(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("no signals here")
		return
	}
	dir, work := noisy(t), t.TempDir()
	state, socket := filepath.Join(work, "state"), filepath.Join(work, "s")
	args := []string{dir, "--node", "Medici", "--dim", "50", "--state", state, "--socket", socket}
	first := startServer(t, append(slices.Clone(args), "--new")...)
	row := first.row("unix", "", 0)
	for name, tc := range map[string]struct{ state, socket, want string }{
		"state":  {state, filepath.Join(work, "other"), "in use by another process"},
		"socket": {filepath.Join(work, "new"), socket, "somebody listens there already"},
	} {
		more := []string{"noise", "serve", dir, "--node", "Medici", "--dim", "50", "--state", tc.state, "--socket", tc.socket}
		if name == "socket" {
			more = append(more, "--new")
		}
		if code, out, errs := mafalda(more...); code != 2 || out != "" || !strings.Contains(errs, tc.want) {
			t.Errorf("a second one on the same %s: code %d, %s%s", name, code, out, errs)
		}
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	second := startServer(t, args...)
	if again := second.row("unix", "", 0); !slices.Equal(row, again) || slices.Equal(again, second.row("unix", "", 1)) {
		t.Error("rows are others after a crash, or the same for another step")
	}
	if err := second.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.cmd.Wait(); err != nil || !strings.Contains(second.errors.String(), "ended; step 2 is next") {
		t.Errorf("ended by SIGTERM: %v, %s", err, &second.errors)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its socket: %v", err)
	}
	args[len(args)-2], args[len(args)-1] = "--listen", "127.0.0.1:0"
	token := filepath.Join(work, "token")
	third := startServer(t, append(args, "--listen", "token-file="+token, "--row", "2")...)
	word, err := serve.ReadToken(token)
	if err != nil {
		t.Fatal(err)
	}
	third.row("tcp", word, 2)
	if _, err := serve.Dial("tcp", third.at, word+"x", third.medici(50)); err == nil {
		t.Error("another token will do")
	}
	if err := third.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := third.cmd.Wait(); err != nil {
		t.Errorf("ended by Ctrl-C: %v, %s", err, &third.errors)
	}
	if code, _, errs := mafalda(lone(dir, state, "--row", "3", "-o", filepath.Join(work, "row"))...); code != 0 {
		t.Errorf("the next row, in a file: %s", errs)
	}
}

// A server of noise that is shared begins with keys and announcements, and goes on without.
func TestNoiseServeShared(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("no signals here")
		return
	}
	s := newSharing(t)
	runs := s.announce("runs", s.nodes)
	args := []string{s.dir, "--node", "Medici", "--dim", "20000", "--state", s.file("state"), "--socket", s.file("s")}
	first := startServer(t, append(slices.Clone(args), s.joining("Medici", runs)...)...)
	ask := func(at *served) []float64 {
		c, err := serve.Dial("unix", at.at, "", at.medici(20000))
		row := make([]float64, 20000)
		if err == nil {
			err = c.Row(0, 0, row)
		}
		if err != nil || len(c.Hello().SharedWith) != 6 || !c.Hello().Private {
			t.Fatal(err)
		}
		return row
	}
	row := ask(first)
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	if again := ask(startServer(t, args...)); !slices.Equal(row, again) {
		t.Error("the row is another after a crash")
	}
}

// Batches that must be drawn in secret are said to be: on standard error, and to every client.
func serveOfPoisson(t *testing.T, dir string) {
	t.Helper()
	work := t.TempDir()
	socket := filepath.Join(work, "s")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if c, err := net.Dial("unix", socket); err == nil { // it serves
				_ = c.Close()
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var errs bytes.Buffer
	code := run(ctx, []string{"noise", "serve", dir, "--node", "Medici", "--dim", "2", "--state", filepath.Join(work, "state"), "--new",
		"--socket", socket}, io.Discard, &errs)
	if code != 0 || !strings.Contains(errs.String(), "private only with batches drawn in secret (poisson)") {
		t.Errorf("noise serve: code %d, %s", code, &errs)
	}
}
