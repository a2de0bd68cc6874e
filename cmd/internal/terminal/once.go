package terminal

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Once is a flag for a text that may be given once: another one after it is refused. Completion parses the same one twice.
type Once struct {
	Text  *string
	given bool
}

func (o *Once) String() string {
	if o.Text == nil {
		return ""
	}
	return *o.Text
}

func (o *Once) Set(s string) error {
	if o.given && s != *o.Text {
		return fmt.Errorf("is given twice, as %s before: only one is taken", *o.Text)
	}
	*o.Text, o.given = s, true
	return nil
}

// Type is the word for the value in help texts.
func (o *Once) Type() string { return "string" }

// SetAgain sets a flag of the command that may have a value already, as an answer to a question does.
func SetAgain(cmd *cobra.Command, name, value string) error {
	if o, is := cmd.Flags().Lookup(name).Value.(*Once); is {
		o.given = false
	}
	return cmd.Flags().Set(name, value)
}
