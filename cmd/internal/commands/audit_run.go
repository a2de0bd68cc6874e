package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/threat/canaries"
)

// runFlags name a training that happened.
type runFlags struct {
	runner          *grids.Runner
	run, coins, out string
	force           bool
}

// auditedName is the result in a folder of -o: without scores and coins.
const auditedName = "audit.json"

// flagsOfRun go together with --run.
var flagsOfRun = [...]string{"run", "export", "attacker", "runs", "delta", "json", "output", "force"}

// othersGiven returns the given flags of a command in order, without known flags and flags of every command.
func othersGiven(cmd *cobra.Command, known ...string) (names []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.InheritedFlags().Lookup(f.Name) == nil && !f.Hidden && !slices.Contains(known, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// checkRun refuses flags of the other kinds of audit, but for some.
func (f *auditFlags) checkRun(cmd *cobra.Command, known ...string) error {
	others := othersGiven(cmd, known...)
	switch {
	case terminal.Given(cmd, "runs") || cmd.Flags().Changed("runs seed"):
		return terminal.Usagef("--runs is not for --run, but for its confidence: what happened is in the folder")
	case len(others) > 0:
		return terminal.Usagef("--%s is not for --run: what happened is in the folder", others[len(others)-1])
	}
	return nil
}

// runRecorded audits a training that happened.
func (f *auditFlags) runRecorded(cmd *cobra.Command, bar *terminal.Progress) (err error) {
	if canaries.IsRecord(f.run.run) {
		return f.runClaimed(cmd, bar)
	}
	if err := f.checkRun(cmd, flagsOfRun[:]...); err != nil {
		return err
	}
	if f.run.coins == "" || f.threat.Exported == "" {
		return terminal.Usagef("--run needs --export, the folder of the plan, and coins, the file of the canaries: --run FOLDER,coins=FILE; "+
			"%s has no coins.json, as a record without a plan has", f.run.run)
	}
	e, err := export.LoadUntil(cmd.Context(), f.threat.Exported)
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
	switch {
	case run.Attacker() && f.attacker != run.Node:
		return terminal.Usagef("the run is what node %q received: say so with --attacker, and its label", run.Node)
	case !run.Attacker() && f.attacker != "":
		return terminal.Usagef("--attacker %s: the run is what node %q sent, which everybody sees", f.attacker, run.Node)
	}
	return f.report(cmd, bar, "the run is not what the plan says", func(o canaries.Options) (*canaries.Result, error) {
		o.Delta = f.sampled.delta
		return canaries.Audit(cmd.Context(), e, run, coins, o)
	})
}

// runClaimed audits what a program without a plan released, by the description that is in the folder or beside it.
func (f *auditFlags) runClaimed(cmd *cobra.Command, bar *terminal.Progress) error {
	if err := f.checkRun(cmd, "run", "runs", "epsilon", "json", "output", "force"); err != nil {
		return err
	}
	if f.run.coins != "" {
		return terminal.Usagef("--run coins=%s: the coins of a record without a plan are in its folder", f.run.coins)
	}
	inside, beside := filepath.Join(f.run.run, "run.toml"), filepath.Clean(f.run.run)+".toml"
	description, err := describedRun(inside)
	if errors.Is(err, fs.ErrNotExist) {
		description, err = describedRun(beside)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return terminal.Usagef("what is claimed? Write it down as for mafalda spent, in %s or %s", inside, beside)
	}
	if err != nil {
		return err
	}
	record, err := canaries.OpenRecord(f.run.run)
	if err != nil {
		return terminal.Usage(err)
	}
	return f.report(cmd, bar, "the run is not what is claimed", func(o canaries.Options) (*canaries.Result, error) {
		o.Epsilon = f.sampled.epsilon
		return canaries.AuditRecord(cmd.Context(), record, description, o)
	})
}

// report writes what an audit finds, and fails with what is wrong if it does not pass.
func (f *auditFlags) report(
	cmd *cobra.Command, bar *terminal.Progress, wrong string, audit func(canaries.Options) (*canaries.Result, error),
) (err error) {
	if err := results.CheckFolder(f.run.out, auditedName, f.run.force); err != nil {
		return err
	}
	defer func() { results.RemoveIfEmpty(f.run.out, err) }()
	confidence := f.confidence
	if !cmd.Flags().Changed("runs confidence") {
		confidence = 0 // the library's default: a bound that always holds says nothing
	}
	r, err := audit(canaries.Options{Confidence: confidence, Progress: bar.ShowAs("parameters")})
	bar.Clear()
	if err != nil {
		if _, unfit := errors.AsType[*canaries.UnfitError](err); unfit {
			err = terminal.Usage(err)
		}
		return err
	}
	if f.json {
		err = terminal.WriteJSON(cmd.OutOrStdout(), r)
	} else {
		err = results.AuditedDocument(r).Text(cmd.OutOrStdout())
	}
	if err == nil && f.run.out != "" {
		shown := *r
		shown.Scores, shown.Coins = nil, nil // secret while the training goes on
		err = results.WriteResult(f.run.out, auditedName, f.run.runner.CommandOf(cmd), shown, results.AuditedDocument(r),
			f.run.force)
	}
	if err == nil && !r.Passed {
		err = fmt.Errorf("%s: %s", wrong, strings.Join(r.Failures(), "; "))
	}
	return err
}
