package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/report"
	"mafalda/internal/study"
)

// commandLine is built of flags; what it cannot say is left.
type commandLine struct {
	words []string
	left  []string // what is not in the line
}

func (c *commandLine) add(words ...string) {
	for _, w := range words {
		c.words = append(c.words, shellQuoted(w))
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

// shellQuoted is a word as a POSIX shell takes it.
func shellQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
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
			levels = append(levels, AsGiven(r.Epsilon))
		}
		c.flag("--epsilon", strings.Join(levels, ","), "")
		c.flag("--delta", AsGiven(m.Delta), "1e-06")
	case s.Average != nil && s.Average.Protocol != "":
		a := s.Average
		c.add("average", "--protocol", a.Protocol, "--graph", a.Graph)
		c.flag("--gossip", a.Gossip, "")
		c.flag("--value-std", AsGiven(a.ValueStd), "10")
		if a.NoiseStd > 0 {
			c.add("--noise-std", AsGiven(a.NoiseStd))
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
		c.add("--schema", "single")
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
	c.flag("--tolerance", AsGiven(m.Tolerance), "1e-06")
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
		c.add("--epsilon", AsGiven(*p.Epsilon), "--delta", AsGiven(*p.Delta))
	} else {
		c.add("--mu", AsGiven(p.Mu))
		if p.Delta != nil {
			c.add("--delta", AsGiven(*p.Delta))
		}
	}
	c.flag("--clip", AsGiven(p.Clip), "1")
	c.flag("--adjacency", p.Adjacency, "zero-out")
}

// network adds the inputs of a study that name its network.
func (c *commandLine) network(in study.Inputs) {
	of := func(name string) string { return report.Setting(in, name) }
	c.flag("--graph", of("graph"), "")
	if of("file of the gossip matrix") != "" {
		c.leave("the gossip matrix, a file with the SHA-256 %s", of("file of the gossip matrix"))
	} else {
		c.flag("--gossip", of("gossip"), "uniform")
	}
	c.on("--directed", of("directed") == "true")
	c.flag("--seed", of("seed"), "0")
	if of("file of the sequence") != "" {
		c.leave("the networks that take turns, a file with the SHA-256 %s", of("file of the sequence"))
	}
}

func (c *commandLine) account(s *report.Source) {
	in := s.Account.Settings
	of := func(name string) string { return report.Setting(in, name) }
	c.add("account")
	c.network(in)
	var p export.Participation
	steps, err := strconv.Atoi(of("T"))
	if err == nil && json.Unmarshal([]byte(of("participation")), &p) == nil && p.Schema != "patterns" {
		c.schema(p, steps)
	} else {
		c.leave("the participation, %s, T = %s", of("participation"), of("T"))
	}
	c.flag("--algorithm", of("algorithm"), "dp-d-sgd")
	if of("strategy") != "" {
		c.leave("the export of the strategy, with the digest %s", of("strategy"))
	}
	c.flag("--gossip-rounds", of("rounds"), "1")
	if of("algorithm") == "decor" {
		c.add("--own-noise", of("own noise"), "--shared-noise", of("shared noise"))
	}
	c.flag("--trust", of("trust"), "pndp")
	c.on("--secure-summation", of("secure summation") == "true")
	c.on("--forget-own-noise", of("forget own noise") == "true")
	c.flag("--bound", of("bound"), "best")
	c.flag("--sigma", of("sigma"), "1")
	c.flag("--delta", of("delta"), "0")
	c.flag("--alpha", of("alpha"), "2")
	if w := of("workload"); w != "" {
		c.leave("the flags of training (%s)", w)
	}
	if nodes := of("nodes"); len(s.Account.Attackers) > 1 {
		c.add("--attacker", "all")
		if nodes != strconv.Itoa(len(s.Account.Attackers)) {
			c.leave("that only %d of %s nodes attacked", len(s.Account.Attackers), nodes)
		}
	} else if len(s.Account.Attackers) == 1 && of("trust") != "ldp" {
		c.add("--attacker", s.Account.Attackers[0].Attacker)
	}
}

func (c *commandLine) simulation(s *report.Source) {
	in := s.Simulation.Settings
	of := func(name string) string { return report.Setting(in, name) }
	c.add("simulate")
	c.flag("--task", of("task"), "linear")
	if t := of("task"); t == "linear" || t == "logistic" {
		c.flag("--records", of("data"), "4000")
	} else {
		c.leave("--data, of the SHA-256 %s", of("data"))
	}
	c.network(in)
	var k, b int
	if _, err := fmt.Sscanf(of("participation"), "cyclic: a record takes part at most k = %d times, every b = %d steps",
		&k, &b); k > 0 && b > 0 {
		c.schema(export.Participation{Schema: "cyclic", K: k, B: b}, lastStep(s.Simulation.Runs))
	} else {
		c.leave("the participation, %s (%v)", of("participation"), err)
	}
	var methods, mus, epsilons []string
	seeds := uint64(0)
	keep := func(to *[]string, text string) {
		if !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	for _, r := range s.Simulation.Runs {
		method, _, made := strings.Cut(r.Method, "#")
		if keep(&methods, method); made {
			keep(&c.left, fmt.Sprintf("the export %s must have the digest that starts with its method's name", method))
		}
		if r.Mu > 0 {
			keep(&mus, AsGiven(r.Mu))
		}
		if r.Epsilon > 0 {
			keep(&epsilons, AsGiven(r.Epsilon))
		}
		seeds = max(seeds, r.Seed+1)
		if r.Sampling != "" && !slices.Contains(c.words, "--sampling") {
			c.flag("--sampling", r.Sampling, "cyclic")
		}
	}
	c.add("--methods", strings.Join(methods, ","))
	c.flag("--mu", strings.Join(mus, ","), "")
	c.flag("--epsilon", strings.Join(epsilons, ","), "")
	c.add("--seeds", strconv.FormatUint(seeds, 10))
	c.flag("--delta", of("delta"), "1e-06")
	c.flag("--adjacency", of("adjacency"), "zero-out")
	c.flag("--learning-rate", of("learning rate"), "")
	c.flag("--clip", of("clip"), "1")
	c.flag("--test-rows", of("test rows"), "256")
	c.flag("--gossip-rounds", of("rounds"), "1")
	if w := of("workload"); w != "" {
		c.leave("the flags of training (%s)", w)
	}
}

func lastStep(runs []report.Run) (last int) {
	for _, r := range runs {
		if n := len(r.Steps); n > 0 {
			last = max(last, r.Steps[n-1])
		}
	}
	return last
}

// reproduceBenchmark returns a command for every participation.
func reproduceBenchmark(s *report.Source) []report.Command {
	b := s.Benchmark
	var all []report.Command
	var done []string
	for _, of := range b.Rows {
		c := commandLine{words: []string{"mafalda", "benchmark", "--only"}}
		var graphs []string
		for _, r := range b.Rows {
			if r.KB() == of.KB() && !slices.Contains(graphs, r.Graph) {
				graphs = append(graphs, r.Graph)
				c.add("--graph", r.Graph)
			}
		}
		c.flag("--gossip", b.Gossip, "uniform")
		c.flag("--seed", strconv.FormatUint(b.Seed, 10), "0")
		c.add("--T", strconv.Itoa(of.KB().Steps()), "-k", strconv.Itoa(of.K))
		var levels []string
		for _, e := range b.Epsilons {
			levels = append(levels, AsGiven(e))
		}
		c.flag("--epsilon", strings.Join(levels, ","), "")
		c.flag("--delta", AsGiven(b.Delta), "1e-06")
		c.add("-o", filepath.Clean(s.Dir))
		if r := c.done(); !slices.Contains(done, r.Line) {
			done, all = append(done, r.Line), append(all, r)
		}
	}
	return all
}
