package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/report"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/study"
	"mafalda/threat"
)

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
	if of("algorithm") == "mf-d-sgd" {
		c.add("--export", cmp.Or(s.Account.Export, "FOLDER"))
		if s.Account.Export == "" {
			c.leave("which FOLDER the export of the strategy is in")
		}
	}
	c.flag("--gossip-rounds", of("rounds"), "1")
	if of("algorithm") == "decor" {
		c.add("--own-noise", of("own noise"), "--shared-noise", of("shared noise"))
	}
	c.flag("--trust", of("trust"), "pndp")
	c.on("--secure-summation", of("secure summation") == "true")
	c.on("--forget-own-noise", of("forget own noise") == "true")
	c.flag("--bound", of("bound"), "best")
	switch name, numbers, classed := strings.Cut(of("gradients"), " "); {
	case classed:
		c.add("--"+name, numbers)
		c.add("--refine=" + of("refined"))
		c.on("--worst-answer", of("worst answers") == "true")
	case name == string(threat.FixedInputs):
		c.add("--" + name)
	}
	level := "1"
	if of("strategy") != "" {
		level = "" // that of the export is the default, if it has one
	}
	c.flag("--sigma", of("sigma"), level)
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
	} else if len(s.Account.Attackers) == 1 {
		c.attacker(s.Account.Attackers[0].Attacker, of("trust"), of("coalitions and their parts") != "")
	}
}

// attacker adds who attacked, by the name of a threat.Attacker: nobody in particular is no flag.
func (c *commandLine) attacker(name, trust string, coalitions bool) {
	var most int
	switch _, err := fmt.Sscanf(name, "every coalition of at most %d", &most); {
	case coalitions && err == nil:
		c.add("--coalitions", strconv.Itoa(most))
	case coalitions:
		c.leave("the coalitions (%s)", name)
	case trust == "ldp" || trust == "eavesdropper" || trust == "secldp" && name == "everybody":
	default:
		c.add("--attacker", name)
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
	delta, _ := strconv.ParseFloat(of("delta"), 64) // 0, of a damaged file, is the δ of no ε
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
			letter, level := figures.LevelAsked(r.Mu, delta)
			if letter == "epsilon" {
				keep(&epsilons, terminal.AsGiven(level))
			} else {
				keep(&mus, terminal.AsGiven(level))
			}
		}
		if r.Epsilon > 0 {
			keep(&epsilons, terminal.AsGiven(r.Epsilon))
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
			levels = append(levels, terminal.AsGiven(e))
		}
		c.flag("--epsilon", strings.Join(levels, ","), "")
		c.flag("--delta", terminal.AsGiven(b.Delta), "1e-06")
		c.add("-o", filepath.Clean(s.Dir))
		if r := c.done(); !slices.Contains(done, r.Line) {
			done, all = append(done, r.Line), append(all, r)
		}
	}
	return all
}
