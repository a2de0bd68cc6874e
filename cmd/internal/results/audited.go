package results

import (
	"fmt"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/threat/canaries"
)

// AuditedDocument says what the audit of a run found. There is no score and no coin in it.
func AuditedDocument(r *canaries.Result) *document.Document {
	d := document.New("audit", "What the messages of a training tell of canaries, beside what is claimed.")
	others := ""
	if r.Replaced {
		others = ", and of all others the opposite"
	}
	who, rest := "of node "+r.Node, fmt.Sprintf("%d steps without a message", r.Missed)
	if r.Releases > 0 {
		who, rest = "without a plan", terminal.Count(r.Releases, "release")
	}
	d.Fact("run", "%s: %d canaries, of which %d took part by their coins%s; %s", who, r.Canaries, r.Included, others, rest)
	d.FactIf("attacker", r.Attacker)
	if r.ClaimedMu != nil {
		d.Fact("claimed", "mu = %s", terminal.DecimalUp(*r.ClaimedMu, 6))
	}
	if r.LinearMu != nil {
		d.Fact("no guarantee", "mu = %s, if gradients do not react", terminal.DecimalUp(*r.LinearMu, 6))
	}
	if r.AloneMu != nil {
		d.Fact("expected", "mu = %s of these messages alone; who has the neighbours' and their secrets sees more",
			terminal.DecimalUp(*r.AloneMu, 6))
	}
	if r.Announced > 0 {
		d.Fact("announced", "epsilon = %g, of one round", r.Announced)
	}
	if r.Mu > 0 || r.Releases == 0 {
		d.Fact("estimate", "mu = %s, standard error %s", terminal.DecimalUp(r.Mu, 4), terminal.DecimalUp(r.MuError, 2))
	}
	claimed := "; the plan claims its own for those who do not know the draws"
	switch {
	case r.ClaimedEpsilon != nil:
		claimed = fmt.Sprintf("; claimed are %s", terminal.DecimalUp(*r.ClaimedEpsilon, 6))
	case r.Releases > 0:
		claimed = "; what is claimed with noise of noising.npy is not known"
	}
	family := "a Gaussian mechanism"
	if r.Releases > 0 && r.Mu == 0 {
		family = "any mechanism"
	}
	d.Fact("proved", "epsilon is at least %s at delta = %g, with confidence %g, as of %s%s",
		terminal.DecimalDown(r.LowerEpsilon, 4), r.Delta, r.Confidence, family, claimed)
	d.Gap()
	for _, f := range r.Faults {
		alarm := "no alarm"
		if f.Alarm {
			alarm = "ALARM"
		}
		d.Fact(f.Name, "%s (%.4g, limit %.4g): %s", alarm, f.Statistic, f.Limit, f.Says)
	}
	if len(r.Faults) > 0 {
		d.Gap()
	}
	verdict := "passed: no fault was found, and no more than is claimed (which proves nothing)"
	if r.ClaimedEpsilon == nil {
		verdict = "passed: no fault was found (which proves nothing); epsilon was not compared"
		if r.Releases > 0 {
			verdict += ": --epsilon says what is claimed in total"
		}
	}
	if !r.Passed {
		verdict = "FAILED: " + strings.Join(r.Failures(), "; ")
	}
	d.Fact("verdict", "%s", verdict)
	d.Summarize(document.WhatItIs, "The audit of a training that happened, by %d canaries, %s. It is no proof of "+
		"privacy.", r.Canaries, who)
	d.Summarize("verdict", "%s", verdict)
	if r.Gradients {
		d.Warn("the record is of the gradients that the optimizer was given: what else happened to the models is not in it")
	}
	d.Exclude("what no message shows: losses or batch sizes that are published beside them, keys of noise that are known",
		"records that go another way than canaries do", "faults that so many canaries do not show")
	return d
}
