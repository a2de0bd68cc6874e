package grids

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
)

// recordedFlags are all flags that a command may have in a line that the folder of its grid, or an engine, holds. They
// say what is computed: some name files and folders to read, none a program, or anything to write. Those that are on
// neither list (--checkpoint, --resume, --attack and its own) do not go together with --shard.
var recordedFlags = []string{
	"adjacency", "algorithm", "alpha", "attacker", "average-last", "bandwidth", "bound", "budgets", "buffers", "carry",
	"clip", "clipped-convex", "convex", "coalitions", "curvature", "data", "delta", "dim", "directed", "epsilon", "export",
	"failure", "fixed-inputs", "float32", "forget-own-noise", "format", "gossip", "gossip-matrix", "gossip-rounds",
	"gradient-tracking", "gram", "graph", "graph-sequence", "groups", "growth", "keep-partial", "lanczos-steps",
	"largest-pair", "learning-rate", "learning-rates", "link-failures", "lipschitz", "local-steps", "max-batch",
	"memory", "methods", "missed-steps", "momentum", "mu", "nesterov", "no-baselines", "no-dense", "node-failures",
	"objective", "only", "own-noise", "participations", "per-node", "person-batches", "probes", "quiet",
	"random-neighbours", "records", "refine", "risk", "rounds", "samples", "sampling", "scale-columns", "schema", "secrets",
	"secure-summation", "seed", "seeds", "separation", "shared-noise", "sigma", "smooth", "start", "strategy", "strict",
	"strongly-convex", "T", "task", "test-rows", "tolerance", "trust", "unit", "weight-decay", "workload", "workloads",
	"worst-answer",
}

// CheckRecorded returns an error unless a command line that was read from somewhere is one that the program writes down
// itself: a command of root that computes in shards, and then nothing but flags of recordedFlags, each as --name=value.
// Whoever has written it can have no program run, and nothing written.
func CheckRecorded(root *cobra.Command, words []string) error {
	if len(words) == 0 {
		return terminal.Usagef("it holds an empty command: it was not written by this program, and nothing is run")
	}
	cmds := root.Commands()
	at := slices.IndexFunc(cmds, func(c *cobra.Command) bool { return c.Name() == words[0] })
	if at < 0 || cmds[at].Flags().Lookup("shard") == nil {
		return terminal.Usagef("it holds the command %q, which does not compute in shards: it is not run", words[0])
	}
	for _, word := range words[1:] {
		name, _, valued := strings.Cut(word, "=")
		name, long := strings.CutPrefix(name, "--")
		if !long || !valued || !slices.Contains(recordedFlags, name) || cmds[at].Flags().Lookup(name) == nil {
			return terminal.Usagef("it holds the command %s with %q, which no shard writes down: it is not run", words[0], word)
		}
	}
	return nil
}
