package noise

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain runs a child process where a test asks for one.
func TestMain(m *testing.M) {
	if args := os.Getenv("NOISE_CHILD"); args != "" {
		child(strings.Split(args, "\n"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child draws a row of the stream for each line of its input, and prints it, or what went wrong.
func child(args []string) {
	d, err := OpenDurable(args[0], "ann", 3, State{Path: args[1]}, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	if args[2] == "panic" {
		d.mix = nil
	}
	row := make([]float64, 3)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if args[2] == "loop" {
			for r := new(room); ; r.sampler.Next(1) {
				d.key.normalsOf(r, 0, 0)
			}
		}
		if err := d.Next(row); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row)
	}
	if err := d.Close(); err != nil {
		fmt.Println(err)
	}
}

// process is a running child.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors strings.Builder
}

func startChild(t *testing.T, dir, state, mode string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "NOISE_CHILD="+dir+"\n"+state+"\n"+mode, "GOMAXPROCS=2", "GOTRACEBACK=all")
	p.cmd.Stderr = &p.errors
	in, err := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err, err2, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	t.Cleanup(func() { _, _ = p.cmd.Process.Kill(), p.cmd.Wait() })
	return p
}

// line is the next line of the child's output.
func (p *process) line() string {
	line, err := p.out.ReadString('\n')
	if err != nil && err != io.EOF {
		p.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// next asks for a row.
func (p *process) next() string {
	if _, err := io.WriteString(p.in, "next\n"); err != nil {
		p.t.Fatal(err)
	}
	return p.line()
}

// end lets the child close its state.
func (p *process) end() {
	if err := errors.Join(p.in.Close(), p.cmd.Wait()); err != nil {
		p.t.Error(err, p.errors.String())
	}
}
