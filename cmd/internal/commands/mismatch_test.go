package commands

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// account and audit refuse an export that was made for another gossip matrix.
func TestOtherGossipIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:4", "--T", "4", "-k", "2", "--no-baselines", "--mu", "1", "-o", dir)
	for _, command := range []string{"account", "audit"} {
		args := []string{command, "--graph", "path:4", "--T", "4", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir,
			"--attacker", "0"}
		if code, out, errs := mafalda(args...); code != 0 {
			t.Errorf("%s: code %d, %s%s", command, code, out, errs)
		}
		code, out, errs := mafalda(append(args, "--gossip", "metropolis")...)
		if code != 2 || !strings.Contains(errs, `was made for the gossip matrix "uniform", and this network has "metropolis"`) {
			t.Errorf("%s: code %d, %s%s", command, code, out, errs)
		}
	}
}

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

// An export for batches of one kind is not audited as one for another, and the error says what it is for.
func TestAuditOfOtherSampling(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:3", "--T", "4", "-k", "2", "--no-baselines", "--sampling", "allocation", "--epsilon", "4",
		"--delta", "1e-2", "-o", dir)
	code, out, errs := mafalda("audit", "--sampling", "poisson", "--export", dir)
	if code != 2 || !strings.Contains(errs, dir+" is for --sampling allocation") || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}
