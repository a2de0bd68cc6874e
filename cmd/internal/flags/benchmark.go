package flags

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
)

// BenchmarkFlags say which graphs and schemas strategies are compared on: benchmarks.Study.
type BenchmarkFlags struct {
	workloads             bool // are compared, instead of strategies
	graphs                []string
	only                  bool
	steps, participations int
	levels                plan.Privacies
	network               NetworkFlags
}

// Study loads all graphs and returns the study. What a user should know of it is handed to note. Its errors are ones of
// usage.
func (f *BenchmarkFlags) Study(cmd *cobra.Command, note func(...string)) (*benchmarks.Study, error) {
	graphs, schemas, err := f.suite(cmd)
	if err != nil {
		return nil, err
	}
	if len(graphs) == 0 {
		return nil, terminal.Usagef("--only without --graph leaves nothing to measure")
	}
	if cmd.Flags().Changed("T") || cmd.Flags().Changed("participations") {
		one, err := participation.Complete(f.steps, f.participations, 0)
		if err != nil {
			return nil, terminal.Usage(err)
		}
		schemas = []participation.Cyclic{one}
	}
	networks, err := f.networks(graphs, note)
	if err != nil {
		return nil, err
	}
	o, err := f.network.options(graph.Uniform)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	o.Directed = slices.ContainsFunc(graphs, func(source string) bool { return strings.HasPrefix(source, directed) })
	if f.workloads {
		s, err := benchmarks.NewWorkloadStudy(networks, schemas, o)
		if err != nil {
			return nil, terminal.Usage(err)
		}
		note(s.LeftOut...)
		return s, nil
	}
	s, err := benchmarks.NewStudy(networks, schemas, o, f.levels)
	if errors.Is(err, limits.ErrMemory) {
		err = terminal.Usage(err)
	}
	return s, err
}

// suite returns the graphs that are asked for, with or without the suite's own, and its schemas.
func (f *BenchmarkFlags) suite(cmd *cobra.Command) (graphs []string, schemas []participation.Cyclic, err error) {
	if f.workloads {
		graphs, schemas = benchmarks.WorkloadSuite()
		if len(f.graphs) > 0 {
			graphs = nil
		}
	} else {
		graphs, schemas = benchmarks.Suite()
	}
	if f.only {
		graphs = nil
	}
	return append(graphs, f.graphs...), schemas, nil
}

// networks loads graphs. Its errors are ones of usage.
func (f *BenchmarkFlags) networks(graphs []string, note func(...string)) ([]*graph.Network, error) {
	if f.network.GossipFile() != "" {
		return nil, terminal.Usagef("--gossip FILE fits one graph only: use mafalda optimize")
	}
	var all []*graph.Network
	for _, source := range graphs {
		network := f.network
		network.Source = source
		n, err := network.Load()
		if err != nil {
			return nil, terminal.Usage(err)
		}
		for _, text := range n.Notes {
			note(source + ": " + text)
		}
		all = append(all, n)
	}
	return all, nil
}
