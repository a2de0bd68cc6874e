package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/verify"
)

type verifyFlags struct {
	network     flags.ExportFamilyFlags
	json, quiet bool
}

func newVerifyCmd() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check an export from its bytes alone",
		Long: `Recompute everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, parameters,
sensitivity, noise level; and, where the network can be had again, squared error, loss, lower bounds and baselines.
Built-in graphs and the centralized workload are made again; for a graph or gossip matrix from a file, name that file.

A manifest that two programs could read differently (a key twice, in another case, or unknown) is refused. What cannot
be recomputed is listed as not checked: how the run went and, without the network's file, all that depends on it.

Exit codes: 0 everything checked holds, 1 something does not, 2 this is not an export.`,
		Example: `  mafalda verify out
  mafalda verify out --graph ego.edges`,
		Args: terminal.ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.network.Bind(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print failures only")
	return cmd
}

func (f *verifyFlags) run(cmd *cobra.Command, dir string) error {
	e, err := export.Load(dir)
	if err != nil {
		return terminal.Usage(err)
	}
	n, err := f.network.Load(cmd.Context(), e)
	if err != nil {
		return err
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), f.quiet)
	bar.Busy("checking " + dir)
	done := 0
	report, err := verify.VerifyWatched(cmd.Context(), e, n, func(c verify.Check) {
		done++
		bar.Busy(fmt.Sprintf("checking %s: %s done, the last of %s", dir, terminal.Count(done, "check"), c.Name))
	})
	bar.Clear()
	if err != nil {
		return terminal.Usage(flags.NetworkError(err))
	}
	if err := f.print(cmd.OutOrStdout(), dir, report); err != nil {
		return err
	}
	if failed := len(report.Failures()); failed > 0 {
		return fmt.Errorf("%s: %d of %d checks failed", dir, failed, len(report.Checks))
	}
	return nil
}

func (f *verifyFlags) print(w io.Writer, dir string, r verify.Report) error {
	var notes []string
	if r.Missing != (verify.NetworkFiles{}) {
		notes = append(notes, "loss and bound were not checked: "+f.network.Note(r.Missing))
	}
	if f.json {
		return terminal.WriteJSON(w, map[string]any{"dir": dir, "ok": r.OK(), "checks": r.Checks,
			"not_checked": r.NotChecked, "notes": notes})
	}
	for _, c := range r.Checks {
		detail := terminal.PlainLine(c.Detail)             // no text of an export makes a line of its own
		if c.Name != "hashes" && c.Name != "extra files" { // which name files
			detail = terminal.GroupedWords(detail)
		}
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAILED  %-12s %s\n", c.Name, detail)
		case !f.quiet:
			fmt.Fprintf(w, "ok      %-12s %s\n", c.Name, detail)
		}
	}
	if f.quiet {
		return nil
	}
	for _, n := range notes {
		fmt.Fprintf(w, "note    %s\n", terminal.PlainLine(n))
	}
	fmt.Fprintf(w, "not checked: %s\n", strings.Join(r.NotChecked, ", "))
	return nil
}
