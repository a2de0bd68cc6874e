package flags

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/workload"
)

// WorkloadFlags say what is trained on the network and what of it counts: a workload.Spec.
type WorkloadFlags struct {
	spec        workload.Spec // what flags bind directly
	rates       string
	averageLast int
}

// completeRates offers schedules, and files.
func completeRates(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"constant", "cosine", "warmup-cosine", "step:"}, cobra.ShellCompDirectiveDefault
}

// Spec returns what the flags say, but for networks that take turns: they come with the network (see
// workload.Spec.On). Flags that the command does not have are as if they were not given.
func (f *WorkloadFlags) Spec(cmd *cobra.Command) (workload.Spec, error) {
	s, last := f.spec, f.averageLast
	changed := cmd.Flags().Changed
	if changed("average-last") {
		s.Weights = workload.LastSteps(last)
	}
	var err error
	if f.rates != "" {
		s.LearningRates, err = readRates(f.rates)
	}
	return s, err
}

// readRates returns the schedule of a name, or of the numbers in a file.
func readRates(text string) (workload.Schedule, error) {
	forms := workload.ScheduleForms()
	name, _, _ := strings.Cut(text, ":")
	if HasForm(forms, text) {
		return workload.ParseSchedule(text)
	}
	file, _, err := files.Open(text)
	if errors.Is(err, os.ErrNotExist) {
		return workload.Schedule{}, terminal.Usagef("--learning-rates %s is neither a file nor one of %s%s", text,
			strings.Join(forms, ", "), terminal.DidYouMean(name, lists.Map(forms, formName)))
	}
	if err != nil {
		return workload.Schedule{}, terminal.Usagef("--learning-rates: %w", err)
	}
	defer file.Close()
	rates, err := parseRates(file, text)
	if err != nil {
		err = terminal.Usagef("--learning-rates: %w", err)
	}
	return rates, err
}

// HasForm reports whether a value is of one of some forms, such as step:N,x.
func HasForm(forms []string, value string) bool {
	name, _, _ := strings.Cut(value, ":")
	return slices.Contains(lists.Map(forms, formName), name)
}

// formName returns what a form begins with, before its numbers.
func formName(form string) string {
	if at := strings.IndexAny(form, ":["); at >= 0 {
		return form[:at]
	}
	return form
}

// WorkloadFacts returns what Spec.Facts says.
func WorkloadFacts(s workload.Spec) []document.Fact {
	return lists.Map(s.Facts(), func(fact [2]string) document.Fact { return document.Fact{Name: fact[0], Value: fact[1]} })
}
