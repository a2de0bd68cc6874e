package commands

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/threat/reaction"
	"mafalda/threat/reaction/smoothness"
)

type smoothnessFlags struct {
	training  smoothness.Training
	norm      float64
	data      string
	records   int // number of records in data
	target    string
	mean      bool
	clip      float64
	unclipped bool
	json      bool
}

func (f *smoothnessFlags) run(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	t := f.training
	if !terminal.Given(cmd, "model") {
		return terminal.Usagef("--model is missing: choose %s", strings.Join(smoothness.Models(), ", "))
	}
	t.Clip, t.Unclipped = f.clip, f.unclipped
	if f.mean {
		t.Divisor = float64(t.Batch)
	}
	if given("norm") {
		t.Norms = []float64{f.norm}
	}
	if given("data") {
		column, err := f.column()
		if err != nil {
			return err
		}
		if t.Norms, err = smoothness.ReadNorms(f.data, column); err != nil {
			return terminal.Usage(err)
		}
		f.records = len(t.Norms)
		if f.mean { // a smaller batch, divided by its own size, can have the largest alone
			t.Norms = []float64{slices.Max(t.Norms)}
		}
	}
	found, err := t.Class()
	if err != nil {
		return smoothnessError(err)
	}
	if f.json {
		return f.printJSON(cmd.OutOrStdout(), t, found)
	}
	return smoothnessPage(smoothnessData{t, found, f.records, f.data, f.mean, reactionFlags(found, t)}).Text(cmd.OutOrStdout())
}

// column returns which column of the data is no input; 0 for none.
func (f *smoothnessFlags) column() (int, error) {
	if f.target == "" {
		return 0, nil
	}
	var column int
	if n, err := fmt.Sscanf(f.target+"\n", "%d\n", &column); n != 1 || err != nil || column == 0 {
		return 0, terminal.Usagef("--data target %s: must be the number of a column, from 1, or from the end: -1", f.target)
	}
	return column, nil
}

// smoothnessError says which flag is missing.
func smoothnessError(err error) error {
	if a, is := errors.AsType[*fault.Argument](err); is && a.Field == "Rate" && a.Value == 0.0 {
		return terminal.Usagef("--rate is missing: the learning rate, the largest")
	}
	return err
}

// slack takes the slack for rounding off a number before it is rounded to six digits, so that 0.05 stays 0.05. Bounds of
// package reaction are raised by ten thousand times as much.
const slack = 1e-11

func roundUp(v float64) string   { return terminal.DecimalUp(v*(1-slack), 6) }
func roundDown(v float64) string { return terminal.DecimalDown(v*(1+slack), 6) }

// reactionFlags returns what to give to account: a class that holds all steps. Models that are divided by the rate lose the
// rate times the decay; x makes up for what rounding takes off that. Account takes no decay from 1 on: the steps are then
// Lipschitz as a whole, at every rate up to this one.
func reactionFlags(f smoothness.Found, t smoothness.Training) string {
	lost := t.Rate * t.Decay
	decay := roundDown(lost)
	given, err := strconv.ParseFloat(decay, 64)
	if err != nil || given >= 1 {
		return "--reaction lipschitz:" + roundUp(max(1, f.Step.Lipschitz()))
	}
	text := fmt.Sprintf("--reaction %s:%s", f.Row, roundUp(f.X+max(0, lost-given)))
	if f.Row == reaction.StronglyConvex {
		text += "," + roundDown(f.Y)
	}
	if given > 0 {
		text += " --optimizer decay:" + decay
	}
	return text
}

func (f *smoothnessFlags) printJSON(w io.Writer, t smoothness.Training, found smoothness.Found) error {
	type class struct {
		Rho   float64 `json:"rho"`
		Kappa float64 `json:"kappa"`
	}
	var decay, y *float64
	var step *class // of the whole step, where it is another one than the gradient's
	if t.Decay > 0 {
		decay, step = new(t.Rate*t.Decay), &class{found.Step.Rho, found.Step.Kappa}
	}
	if found.Row == reaction.StronglyConvex {
		y = &found.Y
	}
	return terminal.WriteJSON(w, struct {
		Model     string   `json:"model"`
		Row       string   `json:"row"`
		Beta      float64  `json:"beta"`
		X         float64  `json:"x"`
		Y         *float64 `json:"y,omitempty"`
		Reaction  class    `json:"reaction"`
		Decay     *float64 `json:"weight_decay,omitempty"`
		Step      *class   `json:"step,omitempty"`
		Lipschitz float64  `json:"lipschitz"`
		Flag      string   `json:"account"`
		Why       string   `json:"why"`
		Private   bool     `json:"from_private_norms,omitempty"`
	}{t.Model.String(), string(found.Row), found.Beta, found.X, y, class{found.Class.Rho, found.Class.Kappa}, decay,
		step, found.Step.Lipschitz(), reactionFlags(found, t), found.Why, f.data != ""})
}

// smoothnessData is what the page of a class of steps is filled with.
type smoothnessData struct {
	smoothness.Training
	Found   smoothness.Found
	Records int
	Data    string
	Mean    bool
	Flag    string
}

var smoothnessPage = document.Page[smoothnessData](pages, "smoothness")

// Up rounds up, and Down down.
func (smoothnessData) Up(v float64) string   { return roundUp(v) }
func (smoothnessData) Down(v float64) string { return roundDown(v) }
