package flags

import (
	"fmt"
	"strings"
	"sync"

	"mafalda/accounting"
	"mafalda/accounting/sampling"
	"mafalda/accounting/spent"
	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/measure"
	"mafalda/noise"
	"mafalda/noise/keys"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/protocols/dpps"
	"mafalda/simulate"
	"mafalda/threat"
	"mafalda/threat/reaction/smoothness"
	"mafalda/workload"
)

// texts returns what stands in pages for {name}: lists of words with commas between them, and what libraries say of themselves.
var texts = sync.OnceValue(func() *strings.Replacer {
	trusts, aboutTrusts := threat.Trusts()
	suite := benchmarks.SuitePrivacies()
	forms, classes, objectives := "", "", ""
	for _, b := range graph.Builtins() {
		forms += fmt.Sprintf("\n  %-15s %s", b.Form, b.About)
	}
	for _, c := range factorize.Classes() {
		classes += fmt.Sprintf("\n%s: %s", c.Name(), c.Traits().About)
	}
	all := sampling.Where(func(sampling.Traits) bool { return true })
	banded := sampling.Where(func(t sampling.Traits) bool { return t.Banded })
	aboutSchemes := func(schemes []participation.Scheme) string {
		return strings.Join(lists.Map(schemes, func(s participation.Scheme) string {
			return fmt.Sprintf("\n    %v: %s", s, sampling.Of(s).Traits().About)
		}), "")
	}
	for _, o := range measure.Objectives() {
		objectives += fmt.Sprintf("\n%v: %s", o, o.About())
	}
	indented := func(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }
	pairs := []string{
		"{about classes}", indented(classes), "{about objectives}", indented(objectives), "{about schemes}", aboutSchemes(all),
		"{about banded schemes}", aboutSchemes(banded),
		"{about trusts}", indented(aboutTrusts),
		"{announcement}", keys.RunExtension,
		"{buffers}", fmt.Sprint(factorize.BLT{}.Traits().Buffers),
		"{classes with buffers}", factorize.NamesWith(func(t factorize.Traits) bool { return t.Buffers > 0 }),
		"{classes with scales}", factorize.NamesWith(func(t factorize.Traits) bool { return t.ScaleColumns }),
		"{condition}", threat.Condition,
		"{built-in graphs}", strings.TrimPrefix(forms, "\n"),
		"{graphs}", strings.Join(graph.BuiltinForms(), " "),
		"{largest pair}", terminal.AsGiven(spacetime.DefaultLargestPair),
		"{suite delta}", terminal.AsGiven(suite.Delta), "{suite epsilons}", strings.Join(lists.Map(suite.Epsilons, terminal.AsGiven), ","),
		"{default methods}", strings.Join(simulate.MethodsFor(participation.InTurn, workload.Spec{}), ","),
		"{tolerance}", terminal.AsGiven(plan.Mean.Tolerance()),
	}
	for name, words := range map[string][]string{
		"adjacencies":       accounting.Adjacencies(),
		"algorithms":        algorithmNames[:],
		"classes":           lists.Map(factorize.Classes(), factorize.Class.Name),
		"export formats":    export.Formats(),
		"graph forms":       graph.BuiltinForms(),
		"gossips":           graph.Schemes(),
		"gram methods":      measure.GramMethods(),
		"measures":          threat.Measures(),
		"methods":           simulate.MethodNames(),
		"noise formats":     noise.Formats(),
		"objectives":        lists.Map(measure.Objectives(), plan.Objective.String),
		"partpsp tasks":     simulate.PartPSPTasks(),
		"presets":           spent.Presets(),
		"rates":             workload.ScheduleForms(),
		"risks":             workload.Risks(),
		"schemas":           SchemaNames(),
		"schemes":           participation.Schemes(),
		"banded schemes":    sampling.Names(func(t sampling.Traits) bool { return t.Banded }),
		"sensitivities":     dpps.Sources(),
		"smoothness models": smoothness.Models(),
		"tasks":             simulate.TaskNames(),
		"trusts":            trusts,
		"workloads":         workload.Kinds(),
	} {
		pairs = append(pairs, "{"+name+"}", strings.Join(words, ", "))
	}
	return strings.NewReplacer(pairs...)
})
