package terminal

import (
	"encoding/json"
	"strings"

	"mafalda/internal/lists"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A describedCommand is what programs need to know of a command to call it.
type describedCommand struct {
	Name      string          `json:"name"` // name without the program's: "optimize", "noise serve"
	Arguments string          `json:"arguments,omitempty"`
	Short     string          `json:"short"`
	Long      string          `json:"long,omitempty"`
	Flags     []describedFlag `json:"flags"`
}

// A describedFlag is what help says of a flag.
type describedFlag struct {
	Name      string   `json:"name"`
	Shorthand string   `json:"shorthand,omitempty"`
	Type      string   `json:"type"`            // type in pflag: bool, int, float64, string, …
	Value     string   `json:"value,omitempty"` // what help calls the value: file, LABEL, …
	Default   string   `json:"default,omitempty"`
	Words     []string `json:"words,omitempty"` // words that the value may be; some flags take files or labels, too
	Group     string   `json:"group,omitempty"` // the heading in help
	Often     bool     `json:"often,omitempty"` // it is in the help of a command that has more
	Usage     string   `json:"usage"`

	Parts []describedFlag `json:"parts,omitempty"` // parts of its value, by their keys
}

// NewDescribeCmd returns the command that prints all commands and flags as JSON. It is in no help: the Python package is
// made from it.
func NewDescribeCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "describe",
		Short:   "Print all commands and their flags as JSON",
		Example: "  mafalda describe",
		Hidden:  true,
		Args:    NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			enc := json.NewEncoder(Verbatim(cmd.OutOrStdout()))
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(lists.Map(commandsBelow(cmd.Root()), described))
		},
	}
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

// described returns the description of a command, without the flags that all commands have.
func described(c *cobra.Command) describedCommand {
	_, arguments, _ := strings.Cut(c.Use, " ")
	d := describedCommand{Name: strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), Arguments: arguments,
		Short: c.Short, Long: c.Long, Flags: []describedFlag{}}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		flag := describedOf(f)
		flag.Often = c.Annotations[Often] != "" && often(c, f.Name)
		d.Flags = append(d.Flags, flag)
	})
	return d
}

func describedOf(f *pflag.Flag) describedFlag {
	value, usage := pflag.UnquoteUsage(f)
	d := describedFlag{Name: f.Name, Shorthand: f.Shorthand, Type: f.Value.Type(), Value: value, Usage: usage,
		Default: f.DefValue, Words: f.Annotations[Words]}
	if heading := f.Annotations[groupAnnotation]; len(heading) > 0 {
		d.Group = heading[0]
	}
	if of, is := f.Value.(*family); is {
		d.Usage = of.about
		for _, key := range of.keys {
			part := describedOf(of.part(key))
			part.Name = key
			d.Parts = append(d.Parts, part)
		}
	}
	return d
}
