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

func (f *verifyFlags) run(cmd *cobra.Command) error {
	dir := cmd.Flags().Arg(0)
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
