package terminal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/internal/files"
	"mafalda/internal/version"
)

// NewManCmd returns the command that writes manual pages of all commands. It is in no help: packagers know it.
func NewManCmd() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write manual pages, one a command",
		Example: "  mafalda man share/man/man1",
		Hidden:  true,
		Args:    ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			for _, c := range append([]*cobra.Command{cmd.Root()}, commandsBelow(cmd.Root())...) {
				write := func(w io.Writer) error { return manPage(w, c) }
				if err := files.WriteFile(filepath.Join(args[0], pageName(c)+".1"), write, force); err != nil {
					return UsageIfExists(err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace pages that are there")
	return cmd
}

// commandsBelow returns the commands of a command, and theirs, that help lists.
func commandsBelow(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(append(all, c), commandsBelow(c)...)
		}
	}
	return all
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manWidth is the number of columns of text on a manual page: man(1) has 80, and indents it.
const manWidth = 72

// manPage writes the manual page of a command, in the macros of man(7), with the help of all its flags.
func manPage(w io.Writer, cmd *cobra.Command) error {
	name := pageName(cmd)
	_, err := fmt.Fprintf(w, ".TH %s 1 \"\" %s %s\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s\n.fi\n", macroArg(strings.ToUpper(name)),
		macroArg("mafalda "+version.String()), macroArg("mafalda manual"), roff(name), roff(cmd.Short), roff(helpText(cmd, manWidth, true)))
	return err
}

// roff returns text that is printed as it is: no line of it is a request, and hyphens are the keyboard's.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func macroArg(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
