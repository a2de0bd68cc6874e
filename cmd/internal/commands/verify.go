package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
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
	return verifyPage(verified{r, f.quiet, notes}).Text(w)
}

// verified is a report as it is printed.
type verified struct {
	verify.Report
	Quiet bool
	Notes []string
}

var verifyPage = document.Page[verified](pages, "verify")

// Detail says what a check has found: no text of an export makes a line of its own.
func (verified) Detail(c verify.Check) string {
	detail := terminal.PlainLine(c.Detail)
	if c.Name == "hashes" || c.Name == "extra files" { // which name files
		return detail
	}
	return terminal.GroupedWords(detail)
}
