package flags

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
)

// Fields of a library's options become the flags that fill them, with the values that were given, and exit code 2.
func TestFieldsBecomeFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		args []string
		want string
		code int
	}{
		"value": {fault.New("Tolerance", -1.0, "must be positive"), nil, "--tolerance -1: must be positive", 2},
		"wrapped": {fmt.Errorf("solving: %w", fault.New("LanczosSteps", 1, "at least 2")), nil,
			"solving: --gram steps 1: at least 2", 2},
		"as given": {fault.New("LanczosSteps", -1, "at least 2"), []string{"--gram", "steps=0"},
			"--gram steps 0: at least 2", 2},
		"infinite": {fault.New("Tolerance", math.Inf(1), "must be finite"), []string{"--tolerance", "inf"},
			"--tolerance +Inf: must be finite", 2},
		"other name": {fault.New("Steps", 7, "at most 3"), nil, "--T 7: at most 3", 2},
		"two": {fault.New("Class", nil, "[LanczosSteps] are for [Class] x"), nil,
			"--gram steps are for --strategy x", 2},
		"one of a list": {fault.New("Epsilons", -1.0, "must be positive"), []string{"--epsilon", "2,-1"},
			"--epsilon -1: must be positive", 2},
		"one of whole numbers": {fault.New("Shared", 4, "at most 3"), []string{"--shared", "1,4"}, "--shared 4: at most 3", 2},
		"first of several":     {fault.New("Attacker", nil, "who?"), nil, "--attack: who?", 2},
		"no flag":              {fault.New("Network", nil, "[Network] and [Tolerance]"), nil, "network and --tolerance", 2},
		"by an error":          {fault.Because("Tolerance", errors.New("file is damaged")), nil, "file is damaged", 2},
		"no argument":          {errors.New("Tolerance 3: bad"), nil, "Tolerance 3: bad", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var f struct {
				tolerance       float64
				Class, attacker string
				Epsilons        []float64
				Shared          []int
				Gram            struct{ method, LanczosSteps int }
				steps           int
			}
			root := newCommand("x\n\nFlags:\n"+`--tolerance  tolerance=1
--strategy  Class
--epsilon  Epsilons
--shared  Shared
--attack  attacker
--attacker  attacker
--gram  Gram.method
--gram steps  Gram.LanczosSteps
--T  steps
`, &f, func(*cobra.Command, []string) error { return tc.err })
			root.SilenceErrors, root.SilenceUsage = true, true
			var errs strings.Builder
			if code := terminal.Run(t.Context(), root, tc.args, &errs, &errs, Explain); code != tc.code ||
				errs.String() != "x: "+tc.want+"\n" {
				t.Errorf("code %d, %q; want %d, %q", code, errs.String(), tc.code, tc.want)
			}
		})
	}
}
