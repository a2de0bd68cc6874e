package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/graph"
)

// completeExported offers the labels of the nodes of an export, the command's first argument.
var completeExported = completeLabels(func(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	e, err := export.Load(args[0])
	if err != nil {
		return nil, err
	}
	return e.NodeLabels()
})

// CompleteLabels offers the labels of the nodes of the network that load returns.
func CompleteLabels(load func() (*graph.Network, error)) cobra.CompletionFunc {
	return completeLabels(func([]string) ([]string, error) {
		n, err := load()
		if err != nil {
			return nil, err
		}
		return n.Graph.Labels(), nil
	})
}

// completeLabels offers labels, for each of several with commas between them; none after an error.
func completeLabels(load func(args []string) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, start string) (words []string, _ cobra.ShellCompDirective) {
		before := start[:strings.LastIndexByte(start, ',')+1]
		labels, _ := load(args)
		for _, label := range labels {
			if strings.HasPrefix(before+label, start) {
				words = append(words, before+label)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
