package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/threat/canaries"
)

// runFlags name a training that happened.
type runFlags struct{ run, coins string }

// flagsOfRun go together with --run.
var flagsOfRun = [...]string{"run", "coins", "export", "confidence", "delta", "json"}

func (f *runFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.run, "run", "", "audit a training that happened: the `folder` in which a node recorded its messages\n(docs/auditing.md)")
	fl.StringVar(&f.coins, "coins", "", "with --run: the `file` of its canaries, which says who they are and which of them take part")
}

// check refuses flags of the other kinds of audit.
func (f *auditFlags) checkRun(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if cmd.InheritedFlags().Lookup(given.Name) == nil && !slices.Contains(flagsOfRun[:], given.Name) {
			err = terminal.Usagef("--%s is not for --run: what happened is in the folder", given.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case f.run.run == "":
		return terminal.Usagef("--coins is for --run")
	case f.run.coins == "" || f.threat.Exported() == "":
		return terminal.Usagef("--run needs --export, the folder of the plan, and --coins, the file of the canaries")
	case cmd.Flags().Changed("delta") && !(f.sampled.delta > 0 && f.sampled.delta < 1):
		return terminal.Usagef("--delta %v: must be between 0 and 1", f.sampled.delta)
	case !(f.confidence > 0 && f.confidence < 1):
		return terminal.Usagef("--confidence %v: must be between 0 and 1", f.confidence)
	}
	return nil
}

// runRecorded audits a training that happened.
func (f *auditFlags) runRecorded(cmd *cobra.Command, bar *terminal.Progress) error {
	if err := f.checkRun(cmd); err != nil {
		return err
	}
	e, err := export.Load(f.threat.Exported())
	if err == nil {
		err = e.CheckHashes()
	}
	if err != nil {
		return terminal.Usage(err)
	}
	coins, err := canaries.ReadCoins(f.run.coins)
	if err != nil {
		return terminal.Usage(err)
	}
	run, err := canaries.OpenRun(f.run.run)
	if err != nil {
		return terminal.Usage(err)
	}
	defer run.Close()
	confidence := f.confidence
	if !cmd.Flags().Changed("confidence") {
		confidence = 0 // the library's default: a bound that always holds says nothing
	}
	r, err := canaries.Audit(cmd.Context(), e, run, coins, canaries.Options{Confidence: confidence, Delta: f.sampled.delta,
		Progress: bar.ShowAs("parameters")})
	bar.Clear()
	if err != nil {
		var unfit *canaries.UnfitError
		if errors.As(err, &unfit) {
			err = terminal.Usage(err)
		}
		return err
	}
	if f.json {
		err = terminal.WriteJSON(cmd.OutOrStdout(), r)
	} else {
		err = runDocument(r).Text(cmd.OutOrStdout())
	}
	if err == nil && !r.Passed {
		err = fmt.Errorf("the run is not what the plan says: %s", strings.Join(r.Failures(), "; "))
	}
	return err
}

// runDocument says what the audit of a run found.
func runDocument(r *canaries.Result) *document.Document {
	d := document.New("audit", "What the messages of a training tell of canaries, beside what is claimed.")
	d.Fact("run", "of node %s: %d canaries, of which %d took part by their coins; %d steps without a message", r.Node, r.Canaries,
		r.Included, r.Missed)
	if r.ClaimedMu != nil {
		d.Fact("claimed", "mu = %s", terminal.DecimalUp(*r.ClaimedMu, 6))
	}
	d.Fact("estimate", "mu = %s, standard error %s", terminal.DecimalUp(r.Mu, 4), terminal.DecimalUp(r.MuError, 2))
	claimed := "; the plan claims its own for those who do not know the draws"
	if r.ClaimedEpsilon != nil {
		claimed = fmt.Sprintf("; claimed are %s", terminal.DecimalUp(*r.ClaimedEpsilon, 6))
	}
	d.Fact("proved", "epsilon is at least %s at delta = %g, with confidence %g, as of a Gaussian mechanism%s",
		terminal.DecimalDown(r.LowerEpsilon, 4), r.Delta, r.Confidence, claimed)
	d.Gap()
	for _, f := range r.Faults {
		alarm := "no alarm"
		if f.Alarm {
			alarm = "ALARM"
		}
		d.Fact(f.Name, "%s (%.4g, limit %.4g): %s", alarm, f.Statistic, f.Limit, f.Says)
	}
	d.Gap()
	verdict := "passed: no fault was found, and no more than is claimed (which proves nothing)"
	if !r.Passed {
		verdict = "FAILED: " + strings.Join(r.Failures(), "; ")
	}
	d.Fact("verdict", "%s", verdict)
	return d
}
