package results

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mafalda/cmd/internal/report"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
)

// commandLine is built of flags; what it cannot say is left.
type commandLine struct {
	words []string
	left  []string // what is not in the line
}

func (c *commandLine) add(words ...string) {
	for _, w := range words {
		c.words = append(c.words, terminal.ShellQuoted(w))
	}
}

// flag adds a flag, unless it has its default.
func (c *commandLine) flag(name, value, byDefault string) {
	if value != "" && value != byDefault {
		c.add(name, value)
	}
}

// on adds a flag without a value.
func (c *commandLine) on(name string, set bool) {
	if set {
		c.add(name)
	}
}

func (c *commandLine) leave(format string, args ...any) {
	c.left = append(c.left, fmt.Sprintf(format, args...))
}

func (c *commandLine) done() report.Command {
	r := report.Command{Line: strings.Join(c.words, " ")}
	if len(c.left) > 0 {
		r.Note = "Not in this line: " + strings.Join(c.left, "; ") + "."
	}
	return r
}

// Reproduce returns the commands that make a folder of a report again, as far as it says how it was made. Names of
// files are as they were given.
func Reproduce(s *report.Source) []report.Command {
	c := commandLine{words: []string{"mafalda"}}
	switch {
	case s.Export != nil:
		return reproduceExport(s.Dir, s.Export.Manifest)
	case s.Account != nil:
		c.account(s)
	case s.Simulation != nil:
		c.simulation(s)
	case s.Benchmark != nil:
		return reproduceBenchmark(s)
	case s.Sampling != nil:
		m := s.Sampling
		c.add("sampling")
		c.origin(m.Graph)
		c.schema(export.Participation{Schema: "cyclic", K: m.Participations, B: m.Separation}, m.Steps)
		c.flag("--workload", m.Workload, "model")
		var levels []string
		for _, r := range m.Rows {
			levels = append(levels, terminal.AsGiven(r.Epsilon))
		}
		c.flag("--epsilon", strings.Join(levels, ","), "")
		c.flag("--delta", terminal.AsGiven(m.Delta), "1e-06")
	case s.Average != nil && s.Average.Protocol != "":
		a := s.Average
		c.add("average", "--protocol", a.Protocol, "--graph", a.Graph)
		c.flag("--gossip", a.Gossip, "")
		c.flag("--value-std", terminal.AsGiven(a.ValueStd), "10")
		if a.NoiseStd > 0 {
			c.add("--noise-std", terminal.AsGiven(a.NoiseStd))
		}
		c.flag("--seed", strconv.FormatUint(a.Seed, 10), "0")
		c.leave("files of values, rounds and other flags of the protocol, if there were any")
	default:
		return nil
	}
	c.add("-o", filepath.Clean(s.Dir))
	return []report.Command{c.done()}
}

// origin adds what names a network.
func (c *commandLine) origin(g *graph.Origin) {
	if g == nil {
		return
	}
	if g.Source != g.GossipFile {
		c.add("--graph", g.Source)
	}
	if g.GossipFile != "" {
		c.add("--gossip-matrix", g.GossipFile)
	} else {
		c.flag("--gossip", g.Gossip, "uniform")
	}
	c.on("--directed", g.Directed)
	if g.Seed != nil {
		c.flag("--seed", strconv.FormatUint(*g.Seed, 10), "0")
	}
	if g.SequenceFile != "" {
		c.add("--graph-sequence", g.SequenceFile)
	}
}

// schema adds who takes part when.
func (c *commandLine) schema(p export.Participation, steps int) {
	c.add("--T", strconv.Itoa(steps))
	switch p.Schema {
	case "patterns":
		c.add("--schema", p.Source)
		return
	case "single":
		c.add("-k", "1")
		return
	case "min-sep":
		c.add("--schema", "min-sep")
	}
	c.add("-k", strconv.Itoa(p.K), "-b", strconv.Itoa(p.B))
}

// reproduceExport returns what makes and what checks an export.
func reproduceExport(dir string, m *export.Manifest) []report.Command {
	c := commandLine{words: []string{"mafalda", "optimize"}}
	c.origin(m.Graph)
	c.flag("--workload", m.Workload, "model")
	c.schema(m.Participation, m.Steps)
	c.flag("--objective", m.Objective, "")
	c.class(m)
	c.privacy(m)
	if w := m.WorkloadSpec; w != nil && !w.IsPlain() {
		c.leave("the flags of training (%v)", *w)
	}
	if g := m.Gram; g != nil && g.Method != "exact" {
		c.leave("the flags of the estimated Gram matrix (%s, %d probes, seed %d)", g.Method, g.Probes, g.Seed)
	}
	if m.Space != nil {
		c.add("--trust", m.Trust)
		c.leave("who shares secrets (%s) and the coalitions", m.Space.Secrets.Source)
	}
	c.flag("--tolerance", terminal.AsGiven(m.Tolerance), "1e-06")
	c.format(m.Files)
	c.add("-o", filepath.Clean(dir))
	check := commandLine{words: []string{"mafalda", "verify"}}
	check.add(filepath.Clean(dir))
	if g := m.Graph; g != nil && g.SHA256 != "" {
		check.add("--graph", g.Source)
	}
	if g := m.Graph; g != nil && g.GossipFile != "" {
		check.add("--gossip-matrix", g.GossipFile)
	}
	made := c.done()
	return []report.Command{made, {Line: check.done().Line, Note: "Checks the export from its bytes alone."}}
}

// format adds in which files the matrices are.
func (c *commandLine) format(files map[string]string) {
	_, npy := files["C.npy"]
	_, csv := files["C.csv"]
	switch {
	case npy && csv:
		c.add("--format", "both")
	case csv:
		c.add("--format", "csv")
	case !npy:
		c.add("--no-dense")
	}
}

// class adds what the strategy is, if it was not chosen by the sampling.
func (c *commandLine) class(m *export.Manifest) {
	p := m.PerNode
	switch {
	case p != nil && p.Groups == 0:
		c.add("--per-node")
	case p != nil:
		c.add("--groups", strconv.Itoa(p.Groups))
	}
	if m.Sampled() {
		c.add("--sampling", m.Sampling.Scheme)
		c.flag("--bandwidth", strconv.Itoa(m.Strategy.Bandwidth), "0")
		if s := m.Sampling; s.Seed != nil {
			c.add("--samples", strconv.Itoa(s.Samples), "--failure", terminal.AsGiven(s.Failure))
			if m.Graph == nil || m.Graph.Seed == nil {
				c.flag("--seed", strconv.FormatUint(*s.Seed, 10), "0")
			}
		}
		return
	}
	c.flag("--strategy", m.Strategy.Class, "dense")
	switch m.Strategy.Class {
	case "blt":
		c.add("--buffers", strconv.Itoa(m.Strategy.Buffers))
	case "banded", "toeplitz", "banded-inverse":
		c.add("--bandwidth", strconv.Itoa(m.Strategy.Bandwidth))
		c.on("--scale-columns", m.Strategy.Columns != nil)
	}
}

// privacy adds the guarantee that was asked for.
func (c *commandLine) privacy(m *export.Manifest) {
	p := m.Privacy
	if p == nil {
		return
	}
	if m.ErrorAtPrivacy > 0 && p.Epsilon != nil && p.Delta != nil {
		c.add("--epsilon", terminal.AsGiven(*p.Epsilon), "--delta", terminal.AsGiven(*p.Delta))
	} else {
		c.add("--mu", terminal.AsGiven(p.Mu))
		if p.Delta != nil {
			c.add("--delta", terminal.AsGiven(*p.Delta))
		}
	}
	c.flag("--clip", terminal.AsGiven(p.Clip), "1")
	c.flag("--adjacency", p.Adjacency, "zero-out")
}
