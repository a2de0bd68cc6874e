package flags

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/files"
)

// completeExported offers the labels of the nodes of an export, the command's first argument.
func completeExported(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return exportedLabels(args[0], start), cobra.ShellCompDirectiveNoFileComp
}

// CompleteLabels offers the labels of the nodes of the network that load returns.
func CompleteLabels(load func() (*graph.Network, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		n, err := load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		before := start[:strings.LastIndexByte(start, ',')+1] // a coalition's other nodes
		labels := beginning(n.Graph.Labels(), start[len(before):])
		for i := range labels {
			labels[i] = before + labels[i]
		}
		return labels, cobra.ShellCompDirectiveNoFileComp
	}
}

// exportedLabels returns the labels of an export's nodes that begin like this; none if the folder is no export.
func exportedLabels(dir, start string) []string {
	f, _, err := files.Open(filepath.Join(dir, "nodes.csv"))
	if err != nil {
		return nil
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil
	}
	at := slices.Index(lines[0], "label")
	var labels []string
	for _, line := range lines[1:] {
		if at >= 0 {
			labels = append(labels, line[at])
		}
	}
	return beginning(labels, start)
}

// beginning returns the labels that begin like this.
func beginning(labels []string, start string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return !strings.HasPrefix(l, start) })
}
