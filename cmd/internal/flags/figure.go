package flags

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/terminal"
)

// BindFigure binds --figure: what the pictures of a command look like.
func BindFigure(cmd *cobra.Command, s *figures.Style) {
	fl := cmd.Flags()
	fl.Var(&length{&s.Width, 2, 40}, "figure width", "in `INCHES` (default 7)")
	fl.Var(&length{&s.Letters, 4, 40}, "figure font", "letters in `POINTS` (default 10)")
	fl.BoolVar(&s.Bare, "figure no-title", false, "without the title, which a caption says")
	terminal.Family(cmd, "figure", "what pictures look like: a column of a journal may want width:3.4,font:8,no-title")
}

// length is a flag for a number in a range; 0 until it is given.
type length struct {
	value     *float64
	low, high float64
}

func (l *length) String() string { return strconv.FormatFloat(*l.value, 'g', -1, 64) }

func (l *length) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= l.low && v <= l.high) {
		return fmt.Errorf("must be a number from %g to %g", l.low, l.high)
	}
	*l.value = v
	return nil
}

// Type is the word for the value in help texts.
func (l *length) Type() string { return "float64" }
