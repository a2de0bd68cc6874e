package flags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/threat"
)

// ReactionFlags say how gradients react to models, on which depends what a node learns.
type ReactionFlags struct {
	fixed         bool
	classes       map[threat.Kind]*string
	refine, worst bool
}

const reactionGroup = "How gradients react to models (--trust pndp)"

// Bind adds the flags to a command.
func (f *ReactionFlags) Bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.fixed, string(threat.FixedInputs), false, "not at all: averaging, streams that are fixed beforehand")
	f.classes = map[threat.Kind]*string{}
	names := []string{string(threat.FixedInputs)}
	for _, of := range []struct {
		kind  threat.Kind
		usage string
	}{
		{threat.Convex, "convex losses, never clipped or of linear models with one output: `x` = ηβ"},
		{threat.Smooth, "smooth losses, convex or not, clipped in any way: `x` = ηβ, β of the sum of the clipped gradients"},
		{threat.ClippedConvex, "convex losses that are clipped, softmax, say: `x` = ηβ, β summed up over records before clipping"},
		{threat.StronglyConvex, "strongly convex losses, never clipped: `x,y` = ηβ,ηλ"},
		{threat.Lipschitz, "steps that move models at most `L` times as far apart"},
	} {
		f.classes[of.kind] = fl.String(string(of.kind), "", of.usage)
		names = append(names, string(of.kind))
	}
	fl.BoolVar(&f.refine, "refine", false,
		"find the best bound for the pairs that lose most at each distance\n"+
			"(default: where that takes seconds, or with --worst-answer)")
	fl.BoolVar(&f.worst, "worst-answer", false,
		"print what the worst answers of the class reach, as far as they are found, of the pairs that lose most at each distance")
	terminal.InGroup(cmd, reactionGroup, append(names, "refine", "worst-answer")...)
}

// given returns the flags that say how gradients react.
func (f *ReactionFlags) given(cmd *cobra.Command) (flags []string) {
	if f.fixed {
		flags = append(flags, "--"+string(threat.FixedInputs))
	}
	for _, kind := range threat.Classes() {
		if cmd.Flags().Changed(string(kind)) {
			flags = append(flags, "--"+string(kind))
		}
	}
	return flags
}

// CheckTrust says at once which flags are for attackers that do not see everything.
func (f *ReactionFlags) CheckTrust(cmd *cobra.Command, t *ThreatFlags, attacker string) error {
	given := f.given(cmd)
	trust, err := threat.ParseTrust(t.trust)
	if err != nil || len(given) == 0 || attacker == "" || trust.HasNodes() {
		return nil // others check that
	}
	return terminal.Usagef("under --trust %v everybody sees all messages, and numbers hold however gradients react: "+
		"leave out --attacker and %s", trust, strings.Join(given, " and "))
}

// Choose puts what the flags say of a scenario to the options.
func (f *ReactionFlags) Choose(cmd *cobra.Command, s threat.Scenario, o *threat.AssessOptions) error {
	given := f.given(cmd)
	classed := len(given) == 1 && !f.fixed
	switch {
	case len(given) > 1:
		return terminal.Usagef("%s: gradients react in one way: give one of them", strings.Join(given, " and "))
	case len(given) == 1 && s.Attacker.Trust.Public():
		return terminal.Usagef("%s is for --trust pndp: where all messages are public, numbers hold however gradients react", given[0])
	case (f.refine || f.worst) && !classed:
		return terminal.Usagef("--refine and --worst-answer are for a class: --convex, --smooth, --clipped-convex, --strongly-convex or --lipschitz")
	}
	if f.fixed {
		o.Reaction.Kind = threat.FixedInputs
	}
	if classed {
		text := strings.TrimPrefix(given[0], "--")
		value := *f.classes[threat.Kind(text)]
		r, err := threat.ParseReaction(text + " " + value)
		if wrong, is := errors.AsType[*fault.Argument](err); is {
			return terminal.Usagef("%s %s: %s", given[0], value, wrong.Reason)
		}
		if err != nil {
			return terminal.Usage(fmt.Errorf("%s %s: %w", given[0], value, err))
		}
		if r.Kind == threat.Lipschitz && s.Algorithm.Training().Spec.Momentum > 0 {
			return terminal.Usagef("--lipschitz is of whole steps: with --momentum say how gradients react, with --smooth or --convex")
		}
		o.Reaction, o.Worst = r, f.worst
		o.Refine = f.refine || !cmd.Flags().Changed("refine") && (f.worst || s.RefinesFast())
	}
	if o.Measure != threat.Best && !s.Attacker.Trust.Public() && o.Reaction.Kind != threat.FixedInputs {
		return terminal.Usagef("--bound %v is of gradients that do not react to models: use it with --fixed-inputs", o.Measure)
	}
	return nil
}
