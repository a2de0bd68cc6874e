package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/noise"
	"mafalda/plan"
	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
	"mafalda/threat"
)

// Explain is terminal.Explain of this program's commands.
func Explain(cmd *cobra.Command, err error) (text string, usage bool) {
	return Hinted(cmd, err), IsUsage(err)
}

// IsUsage reports whether an error is one that the user can mend.
func IsUsage(err error) bool {
	of := []error{threat.ErrAttacker, threat.ErrAudit, threat.ErrStrategy, threat.ErrTooLarge}
	return terminal.IsUsage(err) || slices.ContainsFunc(of, func(target error) bool { return errors.Is(err, target) })
}

// Hinted returns the text of an error with what the flags of this program can do about it, right behind the words that
// it is about: the libraries name no flags. A bad argument is named as the flag of the command that fills the field,
// where there is one.
func Hinted(cmd *cobra.Command, err error) string {
	text := err.Error()
	for about, what := range map[error]string{
		graph.ErrDirected:   "; uniform and a matrix of --gossip work for directed ones",
		graph.ErrAsymmetric: ": use --gossip directed:FILE",
		noise.ErrNeighbours: " (see 'mafalda keys --help'; --key, --peers and --runs begin a run with --new)",
		plan.ErrEstimate:    ": use --gram lanczos with more probes and steps",
	} {
		if errors.Is(err, about) {
			text = strings.Replace(text, about.Error(), about.Error()+what, 1)
		}
	}
	hintOn(&text, err, func(*averaging.PairsError) string { return " (--observer and --victim name some)" })
	hintOn(&text, err, func(e *dpps.SizeError) string { return calibrationHint(cmd, e) })
	hintOn(&text, err, func(*files.ExistsError) string { return " (use --force to replace it)" })
	hintOn(&text, err, func(*graph.DrawError) string { return ", or another --seed" })
	hintOn(&text, err, func(e *simulate.StepsError) string { return fmt.Sprintf(" (use --T %d)", e.Steps) })
	hintOn(&text, err, func(*simulate.TrainingError) string {
		return " (without flags of what is trained, it is what the export was made for)"
	})
	hintOn(&text, err, func(e *noise.UnreadError) string {
		return fmt.Sprintf(", and go on with row %d in step %[1]d (docs/noise.md)", e.Row+1)
	})
	hintOn(&text, err, func(e *noise.LostError) string {
		return fmt.Sprintf(", and go on with --row %d in step %[1]d (docs/noise.md)", e.Last+1)
	})
	if cmd != nil && cmd.Flags().Lookup("strategy") != nil {
		several := slices.ContainsFunc([]string{"trust", "strategy per-node", "strategy groups", "unit", "objective"}, cmd.Flags().Changed)
		if errors.Is(err, limits.ErrMemory) && strings.Contains(text, "a dense strategy needs") && !several {
			text += "; --strategy blt needs little"
		}
		if strings.Contains(text, "--strategy dp-d-sgd:") {
			text += "; DP-D-SGD is --strategy toeplitz:bandwidth=1"
		}
	}
	return withFlags(text, err, cmd)
}

// hintOn puts what can be done about errors of a type behind the words of such an error, if there is one.
func hintOn[E error](text *string, err error, what func(E) string) {
	if e, is := errors.AsType[E](err); is {
		*text = strings.Replace(*text, e.Error(), e.Error()+what(e), 1)
	}
}

// calibrationHint says what to do where constants of DPPS cannot be found.
func calibrationHint(cmd *cobra.Command, size *dpps.SizeError) string {
	how := ": --push-sum estimate:paper or estimate:real"
	if cmd != nil && cmd.Flags().Lookup("push-sum c-prime") != nil {
		how = ": give --push-sum c-prime and lambda, or estimate:paper or estimate:real"
		if size.Rounds > 0 {
			how = ": give --push-sum c-prime and lambda, or synchronize"
		}
	}
	return how
}
