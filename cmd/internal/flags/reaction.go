package flags

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/threat"
)

// ReactionFlags say how gradients react to models, on which depends what a node learns.
type ReactionFlags struct {
	reaction      string // a kind and its numbers: convex:0.1
	refine, worst bool
}

// fixedInputs is the reaction of gradients that do not react.
const fixedInputs = "fixed"

// completeReactions offers the ways to react.
func completeReactions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	kinds := lists.Map(threat.Classes(), func(k threat.Kind) string { return string(k) + ":" })
	return append(kinds, fixedInputs), cobra.ShellCompDirectiveNoSpace
}

// CheckTrust says at once which flags are for attackers that do not see everything.
func (f *ReactionFlags) CheckTrust(cmd *cobra.Command, t *ThreatFlags, attacker string) error {
	if f.reaction == "" || attacker == "" || t.trust.HasNodes() {
		return nil
	}
	return terminal.Usagef("under --trust %v everybody sees all messages, and numbers hold however gradients react: "+
		"leave out --attacker and --reaction", t.trust)
}

// Choose puts what the flags say of a scenario to the options.
func (f *ReactionFlags) Choose(cmd *cobra.Command, s threat.Scenario, o *threat.AssessOptions) error {
	kind, numbers, _ := strings.Cut(f.reaction, ":")
	switch {
	case f.reaction != "" && s.Attacker.Trust.Public():
		return terminal.Usagef("--reaction is for --trust pndp: where all messages are public, numbers hold however gradients react")
	case f.reaction == fixedInputs:
		o.Reaction.Kind = threat.FixedInputs
	case f.reaction != "":
		r, err := threat.ParseReaction(kind + " " + numbers)
		if wrong, is := errors.AsType[*fault.Argument](err); is {
			err = errors.New(wrong.Reason)
		}
		if err != nil {
			return terminal.Usagef("--reaction %s: %w", f.reaction, err)
		}
		if r.Kind == threat.Lipschitz && s.Algorithm.Training().Spec.Momentum > 0 {
			return terminal.Usagef("--reaction lipschitz is of whole steps: with momentum say how gradients react, with smooth or convex")
		}
		o.Reaction, o.Worst = r, f.worst
		o.Refine = f.refine || !cmd.Flags().Changed("reaction refine") && (f.worst || s.RefinesFast())
	}
	if (f.refine || f.worst) && o.Reaction.Kind == threat.FixedInputs || (f.refine || f.worst) && f.reaction == "" {
		return terminal.Usagef("--reaction: refine and worst-answer are of a class: convex, smooth, clipped-convex, strongly-convex or lipschitz")
	}
	if o.Measure != threat.Best && !s.Attacker.Trust.Public() && o.Reaction.Kind != threat.FixedInputs {
		return terminal.Usagef("--bound %v is of gradients that do not react to models: use it with --reaction fixed", o.Measure)
	}
	return nil
}
