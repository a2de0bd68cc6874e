package grids

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/terminal"
)

// recorded reports whether a line that the folder of a grid, or an engine, holds may have a flag of the command: all of its
// flags say what is computed, and name at most files and folders to read, but those of ownFlags, unsharded and MarkEngineFlags.
func recorded(cmd *cobra.Command, name string) bool {
	fl := cmd.LocalNonPersistentFlags().Lookup(name)
	return fl != nil && !fl.Hidden && !isOfEngine(fl) &&
		(name == "quiet" || !slices.Contains(ownFlags, name)) && !slices.Contains(unsharded, name)
}

const ofEngine = "where cells are computed"

func isOfEngine(fl *pflag.Flag) bool {
	_, is := fl.Annotations[ofEngine]
	return is
}

// MarkEngineFlags marks flags of a command that say where an engine computes the cells: no folder or engine keeps them.
func MarkEngineFlags(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, ofEngine, nil); err != nil {
			panic(err) // a flag that does not exist
		}
	}
}

// unsharded are flags that write something, or go by themselves: none goes together with --shard.
var unsharded = []string{"checkpoint", "attack"}

// CheckRecorded returns a command line that was read from somewhere, its flags by their names of today, if it is one that the
// program writes down itself: a command of root that computes in shards, and then nothing but recorded flags, each as
// --name=value. Its author can have no program run, and nothing written.
func CheckRecorded(root *cobra.Command, words []string) ([]string, error) {
	if len(words) == 0 {
		return nil, terminal.Usagef("it holds an empty command: it was not written by this program, and nothing is run")
	}
	cmds := root.Commands()
	at := slices.IndexFunc(cmds, func(c *cobra.Command) bool { return c.Name() == words[0] })
	if at < 0 || cmds[at].Flags().Lookup("shard") == nil {
		return nil, terminal.Usagef("it holds the command %q, which does not compute in shards: it is not run", words[0])
	}
	all := words[:1:1]
	directed := slices.Contains(words, "--directed=true") // of earlier versions
	for _, word := range words[1:] {
		name, value, valued := strings.Cut(word, "=")
		name, long := strings.CutPrefix(name, "--")
		switch {
		case name == "directed" && valued:
			continue
		case directed && (name == "graph" || name == "gossip-matrix"):
			word = "--" + name + "=directed:" + value
		}
		if now := terminal.RenamedFlag(cmds[at], word); long && valued && cmds[at].Flags().Lookup(name) == nil && now != "" {
			word = now
			name, _, _ = strings.Cut(now[2:], "=")
		}
		if !long || !valued || !recorded(cmds[at], name) {
			return nil, terminal.Usagef("it holds the command %s with %q, which no shard writes down: it is not run", words[0], word)
		}
		all = append(all, word)
	}
	return all, nil
}
