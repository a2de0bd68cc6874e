package commands

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// audit refuses an export whose C_inv is not the inverse of its C, also where the attack would not see it.
func TestAuditChecksTheInverse(t *testing.T) {
	home := t.TempDir()
	for name, args := range map[string][]string{
		"network": {"audit", "--graph", "path:4", "--T", "4", "-k", "2", "--algorithm", "mf-d-sgd", "--attacker", "0", "--export"},
		"sampled": {"audit", "--sampling", "poisson", "--sampling", "probability=0.25", "--noise-multiplier", "2", "--delta", "1e-2",
			"--epsilon", "4", "--runs", "2000", "--export"},
	} {
		dir := filepath.Join(home, name)
		made := []string{"--graph", "path:4", "--T", "4", "-k", "2", "--no-baselines", "-o", dir}
		if name == "sampled" {
			made = append(made, "--strategy", "banded", "--strategy", "bandwidth=2")
		}
		optimizeJSON(t, made...)
		args = append(args, dir)
		if code, out, errs := mafalda(args...); code != 0 {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
		path := filepath.Join(dir, "C_inv.npy")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := content[len(content)-8:] // more noise in the last step
		binary.LittleEndian.PutUint64(last, math.Float64bits(1.01*math.Float64frombits(binary.LittleEndian.Uint64(last))))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		rehash(t, dir, "C_inv.npy")
		if code, out, errs := mafalda(args...); code != 2 || !strings.Contains(errs, "C·C⁻¹ should be I") {
			t.Errorf("%s, with another inverse: code %d, %s%s", name, code, out, errs)
		}
	}
}
