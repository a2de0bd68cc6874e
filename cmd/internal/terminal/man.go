package terminal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// manPage writes the manual page of a command, in the macros of man(7).
func manPage(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s %s\n", macroArg(strings.ToUpper(name)), macroArg("mafalda "+version.String()),
		macroArg("mafalda manual"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roff(name), roff(cmd.Short), roff(cmd.UseLine()))
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, about)
	if below := cmd.Commands(); cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range below {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(c)), roff(c.Short))
			}
		}
	}
	for _, g := range flagGroups(cmd) {
		fmt.Fprintf(&b, ".SH %s\n", macroArg(strings.ToUpper(g.heading)))
		g.flags.VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	if cmd.HasExample() {
		b.WriteString(".SH EXAMPLES\n.nf\n" + roff(cmd.Example) + "\n.fi\n")
	}
	if p := cmd.Parent(); p != nil {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(pageName(p)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// manFlag writes what help says of a flag.
func manFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, about := pflag.UnquoteUsage(f)
	names := `\-\-` + roff(f.Name)
	if f.Shorthand != "" {
		names = `\-` + roff(f.Shorthand) + ", " + names
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", names)
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", strings.ReplaceAll(roff(about), "\n", "\n.br\n"))
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" {
		fmt.Fprintf(b, "(default %s)\n", roff(d))
	}
}

// listEntry is a line of a list: a word, and what it means.
var listEntry = regexp.MustCompile(`(?m)^  (\S+) {2,}(\S.*)$`)

// paragraphs writes text whose paragraphs are separated by empty lines; one with indented lines keeps its lines.
func paragraphs(b *strings.Builder, text string) {
	for _, p := range strings.Split(text, "\n\n") {
		p = goesOn.ReplaceAllString(p, " ")
		switch entries := listEntry.FindAllStringSubmatch(p, -1); {
		case len(entries) == strings.Count(p, "\n")+1:
			for _, e := range entries {
				fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(e[1]), roff(e[2]))
			}
		case strings.Contains("\n"+p, "\n "):
			b.WriteString(".PP\n.nf\n" + roff(p) + "\n.fi\n")
		default:
			b.WriteString(".PP\n" + roff(p) + "\n")
		}
	}
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
