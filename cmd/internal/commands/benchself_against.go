package commands

import (
	"bytes"
	"context"
	_ "embed" // the program that runs peers
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/files"
	"mafalda/internal/npy"
	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

//go:embed peers.py
var peersProgram []byte

// peer is a program that mafalda is measured beside.
type peer struct {
	name string // as peers.py has it
	get  string // how to get it
}

var peers = []peer{
	{"jax_privacy", "pip install jax-privacy, and name its python: --python venv/bin/python"},
	{"mfdl", "git clone https://github.com/dimiarbre/MFDL, pip install numpy scipy torch in a Python of 3.12 or later (--python), and name the folder: --mfdl MFDL"},
}

// peerParticipations is k of the problem that programs are compared on.
const peerParticipations = 20

// againstRow is what a program took for a problem.
type againstRow struct {
	Problem string  `json:"problem"`
	Program string  `json:"program"`
	Version string  `json:"version"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`         // median
	Ratio   float64 `json:"ratio"`           // median of its time over mafalda's, run by run
	Above   float64 `json:"above,omitempty"` // how far its loss is above mafalda's lower bound, relatively

	times []float64
}

// errMissingPeer is about a peer that is not there.
var errMissingPeer = errors.New("not found")

// runAgainst runs mafalda and its peers in turns, as often as is asked for.
func (f *benchSelfFlags) runAgainst(ctx context.Context, dir string, show func(part float64, doing string)) (
	rows []againstRow, absent []string, err error) {
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, peersProgram, 0o600); err != nil {
		return nil, nil, err
	}
	p, err := newPeerProblem(ctx, dir, f.steps)
	if err != nil {
		return nil, nil, err
	}
	all := []againstRow{{Problem: p.name, Program: "mafalda", Version: version.String(), Above: p.above}}
	here := []peer{{name: "mafalda"}}
	for _, other := range peers {
		if other.name == "mfdl" && f.mfdl == "" {
			absent = append(absent, "mfdl: no checkout is named: "+other.get)
			continue
		}
		here = append(here, other)
		all = append(all, againstRow{Problem: p.name, Program: other.name})
	}
	for run := range f.runs {
		for i := 0; i < len(here); i++ {
			show((float64(run)+float64(i)/float64(len(here)))/float64(f.runs), here[i].name)
			var seconds float64
			if i == 0 {
				_, seconds, err = runSelf(ctx, dir, p.args())
			} else {
				seconds, err = f.runPeer(ctx, script, p, &all[i])
			}
			switch {
			case ctx.Err() != nil:
				return nil, nil, context.Cause(ctx)
			case err != nil && i == 0:
				return nil, nil, err
			case err != nil: // the others are measured nevertheless
				absent = append(absent, fmt.Sprintf("%s: %v: %s", here[i].name, err, here[i].get))
				here, all = slices.Delete(here, i, i+1), slices.Delete(all, i, i+1)
				i--
			default:
				all[i].times = append(all[i].times, seconds)
			}
		}
	}
	kernels, err := f.kernelsAgainst(ctx, script, p)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		absent = append(absent, "numpy: "+err.Error()+": pip install numpy, and name its python: --python venv/bin/python")
	}
	return append(summed(all), kernels...), absent, nil
}

// summed fills in medians and ratios: to the first row, run by run.
func summed(rows []againstRow) []againstRow {
	for i := range rows {
		r := &rows[i]
		ratios := make([]float64, len(r.times))
		for run, t := range r.times {
			ratios[run] = t / rows[0].times[run]
		}
		r.Runs, r.Seconds, r.Ratio = len(r.times), middle(r.times), middle(ratios)
	}
	return rows
}

// middle returns the median of numbers: the larger one of two.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// peerProblem is an optimum that several programs look for.
type peerProblem struct {
	name   string
	dir    string
	steps  int
	gram   *mat.SymDense
	schema participation.Cyclic
	bound  float64 // below which no loss is
	above  float64 // mafalda's loss, relatively
}

const peerGraph = "florentine"

// newPeerProblem makes the Gram matrix, as a file for the peers, and has mafalda solve the problem once for the bound.
func newPeerProblem(ctx context.Context, dir string, steps int) (*peerProblem, error) {
	p := &peerProblem{name: fmt.Sprintf("%s, T = %d, k = %d", peerGraph, steps, peerParticipations), dir: dir, steps: steps}
	var err error
	if p.schema, err = participation.NewCyclic(steps, peerParticipations, steps/peerParticipations); err != nil {
		return nil, err
	}
	n, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: peerGraph})
	if err != nil {
		return nil, err
	}
	if p.gram, err = workload.Gram(ctx, n.Gossip.Matrix(), steps, workload.Options{}); err != nil {
		return nil, err
	}
	full := mat.DenseCopyOf(p.gram)
	if err := files.WriteFile(p.file("gram.npy"), func(w io.Writer) error {
		return npy.Write(w, []int{steps, steps}, full.RawMatrix().Data)
	}, true); err != nil {
		return nil, err
	}
	m, _, err := runSelf(ctx, dir, p.args())
	if err != nil {
		return nil, err
	}
	p.bound, p.above = m.LowerBound, m.Loss/m.LowerBound-1
	return p, nil
}

func (p *peerProblem) file(name string) string { return filepath.Join(p.dir, name) }

func (p *peerProblem) args() []string {
	return selfArgs(benchmarks.SelfProblem{Graph: peerGraph, Steps: p.steps, Participations: peerParticipations})
}

// runPeer returns how long a peer's optimizer took, and fills in its version and how good its strategy is.
func (f *benchSelfFlags) runPeer(ctx context.Context, script string, p *peerProblem, row *againstRow) (float64, error) {
	out := p.file(row.Program + ".npy")
	seconds, v, err := f.python(ctx, script, p, row.Program, out)
	if err != nil {
		return 0, err
	}
	row.Version = v
	a, err := npy.ReadFile(out)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(a.Shape, []int{p.steps, p.steps}) {
		return 0, fmt.Errorf("its strategy is of shape %v, not %d×%d", a.Shape, p.steps, p.steps)
	}
	c, err := strategy.NewDense(mat.NewDense(p.steps, p.steps, a.Data))
	if err != nil {
		return 0, fmt.Errorf("its strategy: %w", err)
	}
	quality, err := factorize.Evaluate(c, factorize.Mean(p.gram), p.schema)
	if err != nil {
		return 0, fmt.Errorf("its strategy: %w", err)
	}
	row.Above = quality.Loss/p.bound - 1
	return seconds[0], nil
}

// python runs peers.py. The error wraps errMissingPeer if there is no such peer.
func (f *benchSelfFlags) python(ctx context.Context, script string, p *peerProblem, name, out string) (
	seconds []float64, version string, err error) {
	c := exec.CommandContext(ctx, f.pythonProgram, script, name, p.file("gram.npy"), strconv.Itoa(p.steps),
		strconv.Itoa(peerParticipations), out)
	if name == "mfdl" {
		folder, err := filepath.Abs(f.mfdl)
		if err != nil {
			return nil, "", err
		}
		c.Args = append(c.Args, folder)
	}
	var said, complaint bytes.Buffer
	c.Stdout, c.Stderr = &said, &complaint
	err = c.Run()
	last := bytes.TrimSpace(complaint.Bytes())
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		return nil, "", fmt.Errorf("%w: %s", errMissingPeer, last)
	case errors.As(err, &exit):
		return nil, "", fmt.Errorf("%w: %s", err, last)
	case err != nil:
		return nil, "", fmt.Errorf("%w: %w", errMissingPeer, err)
	}
	var answer struct {
		Seconds []float64
		Version string
	}
	if err := json.Unmarshal(said.Bytes(), &answer); err != nil || len(answer.Seconds) == 0 {
		return nil, "", fmt.Errorf("it answered %.60q", said.Bytes())
	}
	return answer.Seconds, answer.Version, nil
}

// kernelsAgainst measures matrix products and Cholesky factors beside numpy's, in turns.
func (f *benchSelfFlags) kernelsAgainst(ctx context.Context, script string, p *peerProblem) ([]againstRow, error) {
	n := p.steps
	r := rand.New(rand.NewPCG(1, 1))
	a, product := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, r.NormFloat64())
		}
	}
	positive := mat.NewSymDense(n, nil)
	dense.SymOuterK(positive, 1, a)
	for i := range n {
		positive.SetSym(i, i, positive.At(i, i)+float64(n))
	}
	var factor dense.Cholesky
	work := []func(){func() { dense.Mul(product, a, a) }, func() { factor.Factorize(positive) }}
	var rows []againstRow
	for _, what := range []string{"product", "Cholesky factor"} {
		for _, program := range []string{"mafalda", "numpy"} {
			rows = append(rows, againstRow{Problem: fmt.Sprintf("%s, %d×%d", what, n, n), Program: program,
				Version: version.String()})
		}
	}
	for range f.runs {
		for i, w := range work {
			rows[2*i].times = append(rows[2*i].times, shortest(w))
		}
		seconds, v, err := f.python(ctx, script, p, "numpy", p.file("none"))
		if err != nil {
			return nil, err
		}
		if len(seconds) != len(work) {
			return nil, fmt.Errorf("it answered %v", seconds)
		}
		for i := range work {
			rows[2*i+1].times, rows[2*i+1].Version = append(rows[2*i+1].times, seconds[i]), v
		}
	}
	return append(summed(rows[:2]), summed(rows[2:])...), nil
}

// shortest returns the shortest of five times.
func shortest(f func()) float64 {
	best := math.Inf(1)
	for range 5 {
		started := time.Now()
		f()
		best = min(best, time.Since(started).Seconds())
	}
	return best
}

// againstTable returns the cells of the table.
func againstTable(rows []againstRow) (title []string, lines [][]string) {
	for _, r := range rows {
		above := "-"
		if r.Above != 0 {
			above = terminal.DecimalUp(r.Above, 2)
		}
		lines = append(lines, []string{r.Problem, r.Program, r.Version, strconv.Itoa(r.Runs), secondsText(r.Seconds),
			fmt.Sprintf("%.2f", r.Ratio), above})
	}
	return []string{"problem", "program", "version", "runs", "time", "ratio", "above the bound"}, lines
}
