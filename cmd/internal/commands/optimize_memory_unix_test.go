//go:build unix

package commands

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"mafalda/export"
)

// The goal for 148 nodes and T = 380, with all baselines, is 120 MB. The search for D-MF, which has as many matrices as
// the one for the optimum, once ran beside it: 150 to 180 MB.
func TestMemoryOfOptimizeWithBaselines(t *testing.T) {
	t.Parallel()
	// a child of the shell: one of this process begins with its resident size
	cmd := exec.Command("sh", "-c", `"$0" "$@"; exit $?`, os.Args[0], "optimize", "--graph",
		"barabasi:148,12", "--T", "380", "--json", "-q")
	cmd.Env = append(os.Environ(), "MAFALDA_PROGRAM=1")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var m export.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Baselines["d-mf"]; !ok || m.PeakBytes > 120e6 {
		t.Errorf("%d bytes, with baselines %v", m.PeakBytes, m.Baselines)
	}
}
