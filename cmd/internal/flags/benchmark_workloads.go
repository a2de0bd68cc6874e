package flags

import (
	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
)

// WorkloadStudy loads all graphs and returns the study of --workloads. What a user should know is handed to note. Its
// errors are ones of usage.
func (f *BenchmarkFlags) WorkloadStudy(cmd *cobra.Command, note func(string)) (*benchmarks.WorkloadStudy, error) {
	for _, name := range []string{"epsilon", "delta"} {
		if cmd.Flags().Changed(name) {
			return nil, terminal.Usagef("--%s is not for --workloads, whose ratios are the same at any privacy", name)
		}
	}
	graphs, schema := benchmarks.WorkloadSuite()
	if f.only || len(f.graphs) > 0 {
		graphs = f.graphs
	}
	if len(graphs) == 0 {
		return nil, terminal.Usagef("--only without --graph leaves nothing to measure")
	}
	one, given, err := f.schema(cmd)
	if err != nil {
		return nil, err
	}
	if given {
		schema = one
	}
	networks, err := f.networks(graphs, note)
	if err != nil {
		return nil, err
	}
	o, err := f.network.options(graph.Uniform)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	s, err := benchmarks.NewWorkloadStudy(networks, schema, o)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	for _, text := range s.LeftOut {
		note(text)
	}
	return s, nil
}
