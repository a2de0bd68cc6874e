package commands

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/cmd/internal/grids"
	"mafalda/threat"
)

// reactions are how gradients may react in the tests below, with what numbers are then for.
var reactions = map[string]struct {
	flags []string
	of    threat.Reaction
}{
	"training": {nil, threat.Reaction{}},
	"fixed":    {[]string{"--reaction", "fixed"}, threat.Reaction{Kind: threat.FixedInputs}},
	"class":    {[]string{"--reaction", "smooth:0.3"}, threat.Reaction{Kind: threat.Smooth, X: 0.3}},
	"screened": {[]string{"--reaction", "convex:0.3,refine=false"}, threat.Reaction{Kind: threat.Convex, X: 0.3}},
	"attacked": {[]string{"--reaction", "lipschitz:1.1,refine,worst-answer"}, threat.Reaction{Kind: threat.Lipschitz, X: 1.1}},
}

// numbersOfNodes are the keys of JSON, and the columns of CSV, that a number about nodes may have, and what says what it
// holds for: holds_for beside it, or its own name.
var numbersOfNodes = map[string]string{
	"sens_squared": "holds_for", "mu": "holds_for", "rdp": "holds_for", "epsilon": "holds_for", "neighbours": "holds_for",
	"others": "holds_for", "asymptote": "fixed inputs", "cyffers_sens_squared": "fixed inputs", "worst_answer": "a class",
	"ldp_sens_squared": "", "ldp_mu": "", "ldp_epsilon": "", "delta": "", "without_reaction": "", "neighbours_without_reaction": "",
	"others_without_reaction": "", "drawn_by_seed": "", "drawn_sens_squared": "", "drawn_mu": "", "drawn_epsilon": "",
	"drawn_holds_for": "", "neighbours_drawn": "", "others_drawn": "", "distance": "", "sigma": "", "steps": "", "rho": "", "kappa": "",
	// of audit, and of simulate --attack
	"claimed_mu": "holds_for or reaction", "reachable_mu": "", "empirical_mu": "", "ci_low": "", "ci_high": "", "runs": "",
	"bound_mu": "from or class", "without_reaction_mu": "", "linear_answers_mu": "", "hops": "", "batch": "", "record_norm": "",
}

// checkKeys finds numbers without a name that is known, of objects inside one that says what they hold for.
func checkKeys(t *testing.T, where string, v any, holds string, of threat.Reaction) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			checkKeys(t, where, x, holds, of)
		}
	case map[string]any:
		if text, there := v["holds_for"].(string); there {
			holds = text
		}
		for key, x := range v {
			if _, is := x.(float64); !is {
				checkKeys(t, where, x, holds, of)
				continue
			}
			need, known := numbersOfNodes[key]
			one, other, either := strings.Cut(need, " or ")
			switch {
			case !known, either && v[one] == nil && v[other] == nil, need == "holds_for" && holds != of.HoldsFor(threat.PNDP),
				need == "fixed inputs" && of.Kind != threat.FixedInputs, need == "a class" && of.Report() == nil:
				t.Errorf("%s: %s = %v, which holds for %q", where, key, x, holds)
			}
		}
	}
}

// No number of what a node learns is printed, stored or drawn without what it holds for: the class of gradients, inputs
// that do not react, or, as local DP, every training. What holds for no training stands under its own name alone.
func TestNetworkNumbersSayWhatTheyHoldFor(t *testing.T) {
	for name, tc := range reactions {
		for _, more := range [][]string{nil, {"--trust", "secure-summation"}} {
			home := t.TempDir()
			views, grown, page := filepath.Join(home, "views"), filepath.Join(home, "grown"), filepath.Join(home, "page.html")
			with := func(base ...string) func(args ...string) []string {
				return func(args ...string) []string { return slices.Concat(base, tc.flags, more, args) }
			}
			account := with("account", "--graph", "path:4", "--T", "3", "-k", "1", "--attacker", "3", "--delta", "1e-5")
			growth := with("account", "--graph", "path:4", "--growth", "2,4", "--attacker", "3")
			holds := tc.of.HoldsFor(threat.PNDP)
			outputs := map[string]string{}
			commands := map[string][]string{"account": account("-o", views), "account --json": account("--json")}
			if name != "attacked" { // growth has no room for it
				commands["growth"], commands["growth --json"] = growth("-o", grown), growth("--json")
			}
			for command, args := range commands {
				code, out, errs := mafalda(args...)
				if code != 0 {
					t.Fatalf("%s %s: code %d, %s", name, command, code, errs)
				}
				outputs[command] = out
			}
			if code, _, errs := mafalda("report", views, "-o", page); code != 0 {
				t.Fatal(errs)
			}
			stored := []string{filepath.Join(views, "account.json"), filepath.Join(views, "pairs.csv"), page,
				filepath.Join(views, "exposure.svg")}
			if name != "attacked" {
				stored = append(stored, filepath.Join(grown, "growth.json"), filepath.Join(grown, "growth.svg"))
			}
			for _, path := range stored {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				outputs[filepath.Base(path)] = string(text)
			}
			for output, text := range outputs {
				where := strings.Join(append([]string{name, output}, more...), " ")
				if !strings.Contains(plainText(text), plainText(holds)) {
					t.Errorf("%s does not say what it holds for", where)
				}
				if strings.HasSuffix(output, "json") {
					var all any
					if err := json.Unmarshal([]byte(text), &all); err != nil {
						t.Fatal(err)
					}
					checkKeys(t, where, all, "", tc.of)
				}
			}
			if flags := strings.Join(tc.flags, " "); !strings.Contains(plainText(outputs["page.html"]), flags) {
				t.Errorf("%s: the page's command does not say %s", name, flags)
			}
			checkPairs(t, name, outputs["pairs.csv"], tc.of)
			checkLinear(t, name, outputs, tc.of)
		}
	}
}

// plainText is a text without the line ends and entities of pictures and pages.
func plainText(text string) string {
	text = strings.NewReplacer("&#39;", "'", ";", "", "\\u003c", "<", "\\u0026", "&").Replace(text)
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t", r) }), " ")
}

// checkPairs finds columns of numbers that say nothing of what they hold for.
func checkPairs(t *testing.T, name, text string, of threat.Reaction) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != 5 {
		t.Fatalf("%s: pairs.csv: %d lines, %v", name, len(lines), err)
	}
	for _, line := range lines[1:] {
		for i, value := range line {
			column := lines[0][i]
			need, known := numbersOfNodes[column]
			switch {
			case slices.Contains([]string{"attacker", "victim", "bound"}, column):
			case column == "holds_for":
				if value != of.HoldsFor(threat.PNDP) {
					t.Errorf("%s: pairs.csv: %q", name, value)
				}
			case !known, value != "" && (need == "fixed inputs" && of.Kind != threat.FixedInputs ||
				need == "a class" && of.Report() == nil):
				t.Errorf("%s: pairs.csv: %s = %s", name, column, value)
			}
		}
	}
}

// checkLinear finds the number of gradients that do not react where it is not called so.
func checkLinear(t *testing.T, name string, outputs map[string]string, of threat.Reaction) {
	t.Helper()
	var r threat.Report
	if err := json.Unmarshal([]byte(outputs["account --json"]), &r); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Pairs[1:] {
		if fixed := of.Kind == threat.FixedInputs; fixed != (p.WithoutReaction == nil) {
			t.Errorf("%s: without reaction: %v", name, p.WithoutReaction)
		}
		if p.WithoutReaction == nil || *p.Distance == 1 {
			continue
		}
		// the chains of a path hurt more than no reaction in every class here
		if !(*p.SensSquared > *p.WithoutReaction*(1+1e-9)) || *p.SensSquared > *p.Local ||
			p.Worst != nil && *p.Worst > *p.SensSquared {
			t.Errorf("%s: victim %s: %v, without reaction %v, local DP %v", name, p.Victim, *p.SensSquared, *p.WithoutReaction, *p.Local)
		}
	}
	if of.Kind != threat.FixedInputs && !strings.Contains(outputs["account"], "if gradients do not react") {
		t.Errorf("%s: %s", name, outputs["account"])
	}
	if of.Kind != threat.FixedInputs && strings.Contains(outputs["exposure.svg"], "Cyffers") {
		t.Errorf("%s: the picture compares with gradients that do not react", name)
	}
}

// The commands that know attackers who are nodes are those that the tests here look at.
func TestCommandsOfNetworkNumbers(t *testing.T) {
	var found []string
	for _, cmd := range newRootCmd(new(grids.Runner)).Commands() {
		if cmd.Flags().Lookup("trust secure-summation") != nil || cmd.Flags().Lookup("attack") != nil {
			found = append(found, cmd.Name())
		}
	}
	slices.Sort(found)
	if want := []string{"account", "audit", "simulate"}; !slices.Equal(found, want) {
		t.Errorf("%v, not %v", found, want)
	}
}

// Audits and pages say what claims of fixed inputs hold for; numbers of public messages hold for all.
func TestConditionIsSaid(t *testing.T) {
	path := []string{"--graph", "path:3", "--T", "2", "-k", "1"}
	answers := slices.Concat([]string{"audit", "--attacker", "2", "--runs", "100", "--answer", "smooth:0.5"}, path)
	attack := slices.Concat([]string{"simulate", "--task", "linear", "--task", "records=60", "--attack", "2", "--attack", "runs=50"}, path)
	for name, args := range map[string][]string{"answers": answers, "attack": attack} {
		code, out, errs := mafalda(args...)
		if code != 0 || !strings.Contains(out, "every training of the class") ||
			!strings.Contains(out, "if gradients do not react") || !strings.Contains(out, "no guarantee   mu = 0.31622") {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
		var all any
		if code, out, errs := mafalda(append(args, "--json")...); code != 0 || json.Unmarshal([]byte(out), &all) != nil {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
		checkKeys(t, name, all, "", threat.Reaction{})
	}
	audit := []string{"audit", "--graph", "path:4", "--T", "3", "--attacker", "3", "--runs", "100"}
	for name, args := range map[string][]string{"audit": audit, "audit --json": slices.Concat(audit, []string{"--json"}),
		"help": {"account", "--help"}, "help of audit": {"audit", "--help"}} {
		code, out, errs := mafalda(args...)
		if code != 0 || !strings.Contains(out, threat.Condition) {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
		if strings.HasSuffix(name, "--json") {
			var all any
			if err := json.Unmarshal([]byte(out), &all); err != nil {
				t.Fatal(err)
			}
			checkKeys(t, name, all, "", threat.Reaction{Kind: threat.FixedInputs})
		}
	}
	first, second, _ := strings.Cut(threat.Condition, "; ")
	for _, path := range []string{"../../../docs/guide.md", "../../../docs/threat-models.md", "../../../docs/concepts.md",
		"../../../docs/tutorial.md", "../../../docs/formats.md", "../../../docs/workloads.md",
		"../../../threat/doc.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", "")), " ")
		if !strings.Contains(flat, first) || !strings.Contains(flat, second) {
			t.Errorf("%s does not say it", path)
		}
	}
	for _, trust := range []string{"ldp", "secldp"} {
		code, out, errs := mafalda("account", "--graph", "path:4", "--T", "3", "--trust", trust)
		if code != 0 || strings.Contains(out, "holds for") || strings.Contains(out, "react") {
			t.Errorf("%s: code %d, %s%s", trust, code, out, errs)
		}
	}
}
