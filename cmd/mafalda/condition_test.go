package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/threat"
)

// What PNDP numbers hold for is said wherever one is printed, stored, drawn or explained, and nowhere else.
func TestNetworkNumbersSayWhatTheyHoldFor(t *testing.T) {
	home := t.TempDir()
	views, grown, page := filepath.Join(home, "views"), filepath.Join(home, "grown"), filepath.Join(home, "page.html")
	account := []string{"account", "--graph", "path:4", "--T", "3", "--attacker", "3"}
	growth := []string{"account", "--graph", "path:4", "--growth", "2,4", "--attacker", "3"}
	audit := []string{"audit", "--graph", "path:4", "--T", "3", "--attacker", "3", "--runs", "100"}
	with := func(args []string, more ...string) []string { return append(append([]string{}, args...), more...) }
	for name, args := range map[string][]string{
		"account": with(account, "--delta", "1e-5", "-o", views), "account sums": with(account, "--secure-summation"),
		"account --json": with(account, "--json"), "growth": with(growth, "-o", grown),
		"growth --json": with(growth, "--json"), "audit": audit, "audit --json": with(audit, "--json"),
		"help": {"account", "--help"}, "help of audit": {"audit", "--help"},
	} {
		code, out, errs := mafalda(args...)
		if code != 0 || !strings.Contains(out, threat.Condition) {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
		if strings.HasSuffix(name, "--json") {
			var got struct {
				HoldsFor string `json:"holds_for"`
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil || got.HoldsFor != threat.Condition {
				t.Errorf("%s: %q, %v", name, got.HoldsFor, err)
			}
		}
	}
	if code, out, _ := mafalda(with(account, "--delta", "1e-5")...); code != 0 ||
		!strings.Contains(out, "(mu = 1.732051, epsilon = ") {
		t.Errorf("local DP is not beside it: %s", out)
	}
	if code, _, errs := mafalda("report", views, "-o", page); code != 0 {
		t.Fatal(errs)
	}
	first, second, _ := strings.Cut(threat.Condition, "; ")
	for _, path := range []string{filepath.Join(views, "account.json"), filepath.Join(views, "pairs.csv"), page,
		filepath.Join(views, "exposure.svg"), filepath.Join(grown, "growth.json"), filepath.Join(grown, "growth.svg"),
		"../../README.md", "../../docs/threat-models.md", "../../docs/concepts.md", "../../docs/tutorial.md",
		"../../docs/formats.md", "../../docs/workloads.md", "../../docs/secrets.md", "../../threat/doc.go"} {
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
		if code != 0 || strings.Contains(out, "holds for") {
			t.Errorf("%s: code %d, %s%s", trust, code, out, errs)
		}
	}
}
