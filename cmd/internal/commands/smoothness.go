package commands

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/threat/reaction"
	"mafalda/threat/reaction/smoothness"
)

type smoothnessFlags struct {
	training  smoothness.Training
	model     string
	norm      float64
	data      string
	records   int // in data
	target    string
	mean      bool
	clip      float64
	unclipped bool
	json      bool
}

func newSmoothnessCmd() *cobra.Command {
	var f smoothnessFlags
	cmd := &cobra.Command{
		Use:   "smoothness",
		Short: "Tell how strongly a training reacts: the class that account asks for",
		Long: `Tell which class of steps a training is in, and with which number: what account's --reaction asks for. A network that trains leaks more than its messages show, because hidden nodes answer to models
that hold the victim's data, and the class says by how much at most.

A node's step is theta - eta (decay theta + (1/D) sum over its batch of clip(gradient) + noise). beta is the Lipschitz constant of the
SUM of clipped gradients, and the number x is eta beta / D. By default D is 1, and --rate multiplies the sum; with mean it
multiplies the mean over a batch of --batch records. Batches that are drawn in secret can hold all records of a node: --batch is
then that, and divisor what the sum is divided by. If the rate changes, --rate is the largest.

Models: linear (o - y)^2, logistic (one output, two classes), softmax (an output a class), with o = Wx + b, from a bound on the
Euclidean norm of the inputs x; convex and smooth (not convex, such as a network with smooth activations) from beta, a Lipschitz
constant of one record's unclipped gradient. Most networks have none: their class is nothing, and local DP the number to publish.

--norm is a bound that everybody may know: scale inputs down to it. The largest norm in --data is private information of those who
have the records; a privacy statement that is made of it says something about them.`,
		Example: `  mafalda smoothness --model logistic --norm 1 --rate 0.1 --batch 32            # the rate multiplies the sum
  mafalda smoothness --model logistic --norm 1 --rate 0.1 --batch 32,mean     # ... the mean
  mafalda smoothness --model softmax --norm 1 --rate 0.1 --batch 32,mean --clip 1
  mafalda smoothness --model softmax --norm 1 --rate 0.1 --batch 32,mean --clip 2.1     # never active: a smaller class
  mafalda smoothness --model linear --data rows.csv,target=-1 --rate 0.01 --batch 8
  mafalda smoothness --model smooth:beta=4 --rate 0.01 --batch 32,mean --json`,
		Args: terminal.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	terminal.ChoiceVar(cmd, &f.model, "model", "", smoothness.Models(),
		"what is trained (required): "+strings.Join(smoothness.Models(), ", "))
	fl.Float64Var(&f.norm, "norm", 0, "a public bound on the norm of every record's inputs, without the 1 of the intercept")
	fl.StringVar(&f.data, "data", "", "take the largest norms of this `file` instead: .npy, or rows of numbers as text")
	fl.StringVar(&f.target, "data target", "", "`column` that is no input, counted from 1, or from the end: -1")
	terminal.Family(cmd, "data", "")
	fl.Float64Var(&f.training.Beta, "model beta", 0, "Lipschitz constant of one record's gradient, before clipping: of convex and smooth")
	fl.Float64Var(&f.training.Curvature, "model curvature", 0, "largest second derivative of the loss of an output (default: 2 of linear, 1/4 of logistic)")
	terminal.Whole(fl, &f.training.Classes, "model classes", "of softmax: 2 are as good as logistic (default: more)")
	fl.BoolVar(&f.training.NoIntercept, "model no-intercept", false, "the model has no parameter b")
	fl.Float64Var(&f.training.Rate, "rate", 0, "learning rate, the largest (required)")
	f.training.Batch = 1
	terminal.Whole(fl, &f.training.Batch, "batch", "records that a batch can have at most")
	terminal.Whole(fl, &f.training.Smallest, "batch smallest", "records that it has at least, for ridge (default: the same)")
	fl.BoolVar(&f.mean, "batch mean", false, "the rate multiplies the mean over so many records, not the sum")
	fl.Float64Var(&f.training.Divisor, "batch divisor", 0, "the sum of a batch is divided by this number (default 1)")
	fl.Float64Var(&f.clip, "clip", 0, "norm that gradients are clipped to: if none is as long, the class is smaller")
	fl.BoolVar(&f.unclipped, "clip unclipped", false, "you can prove that no gradient is ever clipped")
	fl.BoolVar(&f.training.PerLayer, "clip per-layer", false, "weights and intercept are clipped apart, each to this norm")
	fl.Float64Var(&f.training.Ridge, "model ridge", 0, "lambda of a term lambda/2 |theta|^2 in every record's loss, clipped with it")
	for _, name := range []string{"model", "batch", "clip"} {
		terminal.Family(cmd, name, "")
	}
	fl.Float64Var(&f.training.Decay, "weight-decay", 0, "what models lose in a step, times the rate, outside the clip")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *smoothnessFlags) run(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	t := f.training
	switch {
	case !terminal.Given(cmd, "model"):
		return terminal.Usagef("--model is missing: choose %s", strings.Join(smoothness.Models(), ", "))
	case given("norm") && given("data"):
		return terminal.Usagef("--norm and --data: only one of them")
	case given("data") && f.data == "":
		return terminal.Usagef("--data target: is a column of which file? Use --data FILE,target=%s", f.target)
	case f.mean && given("batch divisor"):
		return terminal.Usagef("--batch: mean and divisor: only one of them")
	case f.unclipped && terminal.Given(cmd, "clip"):
		return terminal.Usagef("--clip: a norm and unclipped: only one of them")
	case t.PerLayer && f.unclipped:
		return terminal.Usagef("--clip: unclipped and per-layer: only one of them")
	}
	// 0 stands for a default in the library.
	if err := terminal.Positive(cmd, "clip", "batch divisor", "model curvature", "model beta", "rate"); err != nil {
		return err
	}
	err := terminal.AtLeastOne(cmd, "batch", "batch smallest", "model classes")
	if err != nil {
		return err
	}
	if t.Model, err = smoothness.ParseModel(f.model); err != nil {
		return smoothnessError(err)
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
	return f.print(cmd.OutOrStdout(), t, found)
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

func above(v float64) string { return terminal.DecimalUp(v*(1-slack), 6) }
func below(v float64) string { return terminal.DecimalDown(v*(1+slack), 6) }

// reactionFlags returns what to give to account: a class that holds all steps. Models that are divided by the rate lose the
// rate times the decay; x makes up for what rounding takes off that. Account takes no decay from 1 on: the steps are then
// Lipschitz as a whole, at every rate up to this one.
func reactionFlags(f smoothness.Found, t smoothness.Training) string {
	lost := t.Rate * t.Decay
	decay := below(lost)
	given, err := strconv.ParseFloat(decay, 64)
	if err != nil || given >= 1 {
		return "--reaction lipschitz:" + above(max(1, f.Step.Lipschitz()))
	}
	text := fmt.Sprintf("--reaction %s:%s", f.Row, above(f.X+max(0, lost-given)))
	if f.Row == reaction.StronglyConvex {
		text += "," + below(f.Y)
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

func (f *smoothnessFlags) print(w io.Writer, t smoothness.Training, found smoothness.Found) error {
	divided := "the rate multiplies the sum of a batch's gradients"
	switch {
	case f.mean:
		divided = fmt.Sprintf("the rate multiplies the mean over %d, so the sum by %.6g", t.Batch, t.Rate/t.Divisor)
	case t.Divisor > 0:
		divided = fmt.Sprintf("the sum is divided by %g, so the rate multiplies it by %.6g", t.Divisor, t.Rate/t.Divisor)
	}
	of := "of the sum of clipped gradients"
	if found.Row == reaction.ClippedConvex {
		of = "of the sum of gradients before clipping"
	}
	fmt.Fprintf(w, "model          %s\n", t.Model)
	switch {
	case f.data != "":
		fmt.Fprintf(w, "norms          the largest of %s in %s: private information\n", terminal.Count(f.records, "record"), f.data)
	case len(t.Norms) == 1:
		fmt.Fprintf(w, "norms          at most %g\n", t.Norms[0])
	}
	fmt.Fprintf(w, "step           rate %g, batches of at most %s; %s\n", t.Rate, terminal.Count(t.Batch, "record"), divided)
	fmt.Fprintf(w, "beta           %s, Lipschitz constant %s of a batch\n", above(found.Beta), of)
	fmt.Fprintf(w, "x              %s, the rate times beta", above(found.X))
	if t.Divisor > 0 {
		fmt.Fprintf(w, " over %g", t.Divisor)
	}
	fmt.Fprintln(w)
	if found.Row == reaction.StronglyConvex {
		fmt.Fprintf(w, "y              %s, the rate times lambda\n", below(found.Y))
	}
	fmt.Fprintf(w, "class          %s: rho %.6g, kappa %.6g\n", found.Row, found.Class.Rho, found.Class.Kappa)
	fmt.Fprintf(w, "because        %s\n", found.Why)
	if t.Decay > 0 {
		fmt.Fprintf(w, "with decay     rho %.6g, kappa %.6g\n", found.Step.Rho, found.Step.Kappa)
	}
	fmt.Fprintf(w, "steps          at most %s-Lipschitz\n", above(found.Step.Lipschitz()))
	_, err := fmt.Fprintf(w, "account with   %s\n", reactionFlags(found, t))
	if f.data != "" && err == nil {
		_, err = fmt.Fprintf(w, "warning        the class depends on the records: scale inputs to a public norm, and give it as --norm\n")
	}
	return err
}
