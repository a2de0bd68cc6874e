package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/noise"
	"mafalda/noise/keys"
)

func newKeysCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make keys, and announce runs, for noise that nodes share",
		Long: `Make the keys of nodes that share noise in pairs (exports of --trust secldp), and announce runs to neighbours.

Every node makes a key once, and all lines that 'keys new' prints go into one file, which everybody has. Before a run
every node announces it with 'keys run', and gets the announcements of its neighbours, into one folder: then 'noise
--new' begins it (docs/secrets-runtime.md).`,
		Example: `  mafalda keys new --node Medici -o medici.key > medici.pub
  cat *.pub > keys.csv
  mafalda keys show keys.csv
  mafalda keys run out --key medici.key --peers keys.csv --dim 99 -o runs/medici.run
  mafalda noise out --node Medici --dim 99 --state medici.state --new --key medici.key --peers keys.csv --runs runs`,
		Args: terminal.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysNewCmd(), newKeysShowCmd(), newKeysRunCmd())
	return cmd
}

func newKeysNewCmd() *cobra.Command {
	var node, out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make the key of a node",
		Long: `Make a private X25519 key in a file that only its owner can read, and print the line of its public key: label,
key, fingerprint. A file that is there is never replaced. Beside it a folder notes which runs the key has begun: keep
the two together, and do not restore them from a copy.`,
		Example: "  mafalda keys new --node Medici -o medici.key > medici.pub",
		Args:    terminal.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if node == "" || out == "" {
				return terminal.Usagef("whose key, and in which file? Use --node and -o")
			}
			key, err := keys.New(node)
			if err == nil {
				err = key.Save(out)
			}
			if errors.Is(err, fs.ErrExist) {
				err = fmt.Errorf("%w; a key is never replaced (its public line: mafalda keys show FILE)", err)
			}
			if err != nil {
				return terminal.Usage(err)
			}
			_, err = fmt.Fprint(terminal.Verbatim(cmd.OutOrStdout()), key.Public().Line())
			return err
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "`LABEL` of the node, as in nodes.csv (required)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the private key to this `file` (required)")
	return cmd
}

func newKeysShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "show FILE",
		Short:   "Print the public keys of a file",
		Long:    "Print the public keys of a file of them, or that of a private key: label, key and fingerprint.",
		Example: "  mafalda keys show medici.key\n  mafalda keys show keys.csv",
		Args:    terminal.ExactArgs(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := keys.Read(args[0])
			if err != nil {
				return terminal.Usage(err)
			}
			for _, p := range all {
				fmt.Fprint(terminal.Verbatim(cmd.OutOrStdout()), p.Line())
			}
			return nil
		},
	}
}

func newKeysRunCmd() *cobra.Command {
	var (
		join       noise.Join
		opts       noise.Options
		check, out string
		dim        int
		force      bool
	)
	cmd := &cobra.Command{
		Use:   "run DIR",
		Short: "Announce a run to the neighbours of a node",
		Long: `Announce a run of an export to the neighbours of a node: a file with a fresh nonce, which is no secret, and which
they can tell from a forged one. It begins one run: for the next one, all announce again.

With --check LABEL it is a run to compare the two ends of one pair, which both announce: their rows are what the pair
shares and nothing else, those of the one opposite to those of the other in every bit, and protect nothing.`,
		Example: `  mafalda keys run out --key medici.key --peers keys.csv --dim 99 -o runs/medici.run
  mafalda keys run out --key medici.key --peers keys.csv --dim 99 --check Albizzi -o check/medici.run`,
		Args: terminal.ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case join.Key == "" || join.Keys == "" || out == "" || dim < 1:
				return terminal.Usagef("a run needs --key, --peers, --dim and -o")
			case !strings.HasSuffix(out, keys.RunExtension):
				return terminal.Usagef("-o %s: the name of an announcement ends with %s", out, keys.RunExtension)
			case !(opts.NoiseStd >= 0 && opts.Grid >= 0) || math.IsInf(opts.NoiseStd+opts.Grid, 1):
				return terminal.Usagef("--noise-std and --grid must be positive and finite")
			}
			a, err := noise.Announce(args[0], dim, join, check, opts)
			if err != nil {
				return terminal.Usage(err)
			}
			if err := a.WriteFile(out, force); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s announces a run of %q to %s\n", out, a.Node, a.To())
			return nil
		},
	}
	fl := cmd.Flags()
	joinFlags(cmd, &join)
	terminal.Whole(fl, &dim, "dim", "parameters of the model (required)")
	fl.Float64Var(&opts.NoiseStd, "noise-std", 0, "standard deviation of Z, as for noise (default: that of the manifest)")
	fl.Float64Var(&opts.Grid, "grid", 0, "grid of the noise, as for noise")
	fl.StringVar(&check, "check", "", "announce a check with the neighbour `LABEL`, NOT a run")
	fl.StringVarP(&out, "output", "o", "", "write the announcement to this `file`, *"+keys.RunExtension+" (required)")
	fl.BoolVar(&force, "force", false, "replace this file")
	return cmd
}

// joinFlags are the flags of keys.
func joinFlags(cmd *cobra.Command, j *noise.Join) {
	cmd.Flags().StringVar(&j.Key, "key", "", "private key of the node, a `file` that keys new has made")
	cmd.Flags().StringVar(&j.Keys, "peers", "", "`file` with the public keys of the node and its neighbours")
}
