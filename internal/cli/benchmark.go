package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// BenchmarkFlags say which graphs and schemas strategies are compared on: benchmarks.Study.
type BenchmarkFlags struct {
	Workloads             bool // the study is benchmarks.WorkloadStudy, instead
	graphs                []string
	only                  bool
	steps, participations int
	levels                benchmarks.Privacies
	network               NetworkFlags
}

// Bind binds the flags to a command.
func (f *BenchmarkFlags) Bind(cmd *cobra.Command) {
	f.network.BindGossip(cmd)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.graphs, "graph", "g", nil,
		"a graph besides the suite: a file or "+strings.Join(graph.BuiltinForms(), " ")+"; may be repeated")
	fl.BoolVar(&f.only, "only", false, "measure the graphs of --graph only")
	fl.BoolVar(&f.Workloads, "workloads", false,
		"compare strategies over optimizers and networks that change, instead; --graph takes the place of its graphs")
	fl.VarP((*WholeNumber)(&f.steps), "T", "T", "measure for this number of steps only")
	fl.VarP((*WholeNumber)(&f.participations), "participations", "k",
		"participations for --T (default 20 if 20 divides T)")
	BindPrivacies(cmd, &f.levels, benchmarks.SuitePrivacies())
	if err := cmd.RegisterFlagCompletionFunc("graph", CompleteGraph); err != nil {
		panic(err)
	}
}

// Study loads all graphs and returns the study. What a user should know of them is handed to note. Its errors are ones
// of usage.
func (f *BenchmarkFlags) Study(cmd *cobra.Command, note func(string)) (*benchmarks.Study, error) {
	graphs, schemas := benchmarks.Suite()
	if f.only {
		graphs = nil
	}
	if graphs = append(graphs, f.graphs...); len(graphs) == 0 {
		return nil, Usagef("--only without --graph leaves nothing to measure")
	}
	one, given, err := f.schema(cmd)
	if err != nil {
		return nil, err
	}
	if given {
		schemas = []participation.Cyclic{one}
	}
	networks, err := f.networks(graphs, note)
	if err != nil {
		return nil, err
	}
	var all []benchmarks.Case
	for _, n := range networks {
		cases, err := benchmarks.Cases(n, schemas)
		if err != nil {
			return nil, Usage(err)
		}
		all = append(all, cases...)
	}
	o, err := f.network.options(graph.Uniform)
	if err != nil {
		return nil, Usage(err)
	}
	s, err := benchmarks.NewStudy(all, o, f.levels)
	return s, LevelError(err)
}

// schema returns what --T and --participations say, if they are given.
func (f *BenchmarkFlags) schema(cmd *cobra.Command) (s participation.Cyclic, given bool, err error) {
	if !cmd.Flags().Changed("T") && !cmd.Flags().Changed("participations") {
		return s, false, nil
	}
	s, err = participation.Complete(f.steps, f.participations, 0)
	return s, true, Usage(err)
}

// networks loads graphs. Its errors are ones of usage.
func (f *BenchmarkFlags) networks(graphs []string, note func(string)) ([]*graph.Network, error) {
	if f.network.GossipFile != "" {
		return nil, Usagef("--gossip-matrix fits one graph only: use mafalda optimize")
	}
	var all []*graph.Network
	for _, source := range graphs {
		network := f.network
		network.Source = source
		n, err := network.Load()
		if err != nil {
			return nil, Usage(err)
		}
		for _, text := range n.Notes {
			note(source + ": " + text)
		}
		all = append(all, n)
	}
	return all, nil
}

// BindPrivacies binds --epsilon and --delta as levels that strategies are compared at.
func BindPrivacies(cmd *cobra.Command, levels *benchmarks.Privacies, byDefault benchmarks.Privacies) {
	fl := cmd.Flags()
	NumbersVar(fl, &levels.Epsilons, "epsilon", byDefault.Epsilons, "levels of privacy to compare at, with --delta")
	fl.Float64Var(&levels.Delta, "delta", byDefault.Delta, "of the levels of privacy")
}

// LevelError makes an error about one of several levels of privacy one of usage that names this level.
func LevelError(err error) error {
	var a *fault.Argument
	if !errors.As(err, &a) {
		return err
	}
	return Usagef("%s", a.Text(func(field string) string { return "--" + flagOf(field) }))
}

// WriteBenchmark writes two tables for every schema: of losses, a line a strategy and a column a graph; and of what
// secret batches cost at levels of privacy. dir is where the rows are kept, if anywhere.
func WriteBenchmark(w io.Writer, rows []benchmarks.Row, levels benchmarks.Privacies, dir string) error {
	for _, kb := range benchmarks.Participations(rows) {
		fmt.Fprintf(w, "T = %d, k = %d, b = %d: loss / certified optimum; at any privacy also squared error / that of "+
			"the optimum\n", kb.Steps(), kb.K, kb.B)
		if err := writeLosses(w, rows, kb); err != nil {
			return err
		}
		fmt.Fprintf(w, "\nbatches drawn in secret: squared error / that of the optimum in turn, both (ε, %v)-DP; bands of the "+
			"best\n", levels.Delta)
		if err := writeSampled(w, rows, kb, levels); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if dir != "" {
		fmt.Fprintf(w, "written  %s\n", dir)
	}
	return nil
}

func writeLosses(w io.Writer, rows []benchmarks.Row, kb benchmarks.KB) error {
	names := benchmarks.NamesOf(rows)
	header := []string{"strategy", "a node keeps"}
	lines := map[string][]string{}
	for _, r := range rows {
		if r.KB() != kb {
			continue
		}
		if r.Strategy == benchmarks.Dense {
			header = append(header, names.Of(&r))
		}
		if lines[r.Strategy] == nil {
			lines[r.Strategy] = []string{benchmarks.Spelled(r.Strategy), strconv.Itoa(r.MemoryFloats)}
		}
		lines[r.Strategy] = append(lines[r.Strategy], fmt.Sprintf("%.4f", r.Ratio))
	}
	var ordered [][]string
	for _, name := range benchmarks.OfLoss() {
		ordered = append(ordered, lines[name])
	}
	return Table(w, header, ordered)
}

// writeSampled writes a line for every graph and way to draw in secret, a column for every ε.
func writeSampled(w io.Writer, rows []benchmarks.Row, kb benchmarks.KB, levels benchmarks.Privacies) error {
	names := benchmarks.NamesOf(rows)
	header := []string{"strategy", "graph"}
	for _, epsilon := range levels.Epsilons {
		header = append(header, fmt.Sprintf("ε = %v", epsilon))
	}
	var lines [][]string
	for _, name := range benchmarks.Sampled() {
		for _, r := range rows {
			if r.Strategy != name || r.KB() != kb {
				continue
			}
			line := []string{name, names.Of(&r)}
			for _, at := range r.AtPrivacy {
				ratio := fmt.Sprintf("%.4f", at.Ratio)
				if name == benchmarks.SampledBest {
					ratio += fmt.Sprintf(" (%d)", at.Bands)
				}
				line = append(line, ratio)
			}
			lines = append(lines, line)
		}
	}
	return Table(w, header, lines)
}
