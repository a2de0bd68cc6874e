package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/noise"
	"mafalda/noise/keys"
)

func newKeysCmd() *cobra.Command {
	cmd := flags.Command("keys", nil, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(newKeysNewCmd(), newKeysShowCmd(), newKeysRunCmd())
	return cmd
}

func newKeysNewCmd() *cobra.Command {
	var f struct{ node, out string }
	return flags.Command("keys-new", &f, func(cmd *cobra.Command, _ []string) error {
		if f.node == "" || f.out == "" {
			return terminal.Usagef("whose key, and in which file? Use --node and -o")
		}
		key, err := keys.New(f.node)
		if err == nil {
			err = key.Save(f.out)
		}
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w; a key is never replaced (its public line: mafalda keys show FILE)", err)
		}
		if err != nil {
			return terminal.Usage(err)
		}
		_, err = fmt.Fprint(terminal.Verbatim(cmd.OutOrStdout()), key.Public().Line())
		return err
	})
}

func newKeysShowCmd() *cobra.Command {
	return flags.Command("keys-show", nil, func(cmd *cobra.Command, args []string) error {
		all, err := keys.Read(args[0])
		if err != nil {
			return terminal.Usage(err)
		}
		for _, p := range all {
			fmt.Fprint(terminal.Verbatim(cmd.OutOrStdout()), p.Line())
		}
		return nil
	})
}

func newKeysRunCmd() *cobra.Command {
	var f struct {
		join       noise.Join
		opts       noise.Options
		check, out string
		dim        int
		force      bool
	}
	return flags.Command("keys-run", &f, func(cmd *cobra.Command, args []string) error {
		switch {
		case f.join.Key == "" || f.join.Keys == "" || f.out == "" || f.dim < 1:
			return terminal.Usagef("a run needs --key, --peers, --dim and -o")
		case !strings.HasSuffix(f.out, keys.RunExtension):
			return terminal.Usagef("-o %s: the name of an announcement ends with %s", f.out, keys.RunExtension)
		}
		a, err := noise.Announce(args[0], f.dim, f.join, f.check, f.opts)
		if err != nil {
			return terminal.Usage(err)
		}
		if err := a.WriteFile(f.out, f.force); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s announces a run of %q to %s\n", f.out, a.Node, a.To())
		return nil
	})
}
