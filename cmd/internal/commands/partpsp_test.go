package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPartPSP(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	epochs := 8
	if testing.Short() {
		epochs = 2
	}
	small := []string{"partpsp", "--task", "records=1500", "--task", "features=12", "--nodes", "4", "--networks", "exp,d-out:3", "--shared", "1,3", "--laplace-b", "2", "--epochs", strconv.Itoa(epochs),
		"--batch", "30", "--seeds", "2"}
	code, out, errs := mafalda(append(small, "--json", "-o", dir)...)
	var r struct {
		Widths []int
		Cells  []struct {
			Network  string
			Shared   int `json:"shared_layers"`
			B        *float64
			Epsilon  *float64 `json:"epsilon_per_round"`
			Accuracy float64
			Rounds   int
		}
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v, %s", code, err, errs)
	}
	if len(r.Cells) != 2*2*2 || r.Widths[0] != 12 || r.Widths[2] != 12 || r.Cells[0].Rounds != epochs*(1200/4/30) {
		t.Fatalf("%+v", r)
	}
	for _, c := range r.Cells {
		if c.Accuracy < 0.1 || (c.B == nil) != (c.Epsilon == nil) || c.B != nil && !near(*c.Epsilon, 1000, 1e-12) {
			t.Errorf("%+v", c)
		}
	}
	for _, name := range []string{"partpsp.json", "sensitivity-exp.png", "sensitivity-d-out-3.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	code, out, errs = mafalda(append(small, "--push-sum", "estimate:sound", "--push-sum", "gamma-n:1e-5")...)
	if code != 0 || !strings.Contains(out, "SGPDP") || !strings.Contains(out, "200,000") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"network":   {[]string{"--networks", "ring"}, "choose exp"},
		"d":         {[]string{"--networks", "d-out:1"}, "d-out:4,1"},
		"b":         {[]string{"--laplace-b", "0"}, "--laplace-b 0"},
		"shared":    {[]string{"--shared", "4"}, "three layers"},
		"epochs":    {[]string{"--epochs", "0"}, "--epochs 0"},
		"batch":     {[]string{"--batch", "9999"}, "fewer than a batch"},
		"task":      {[]string{"--task", "cifar"}, "synthetic or mnist"},
		"mnist":     {[]string{"--task", "mnist"}, "train-images"},
		"estimate":  {[]string{"--push-sum", "estimate:guess"}, "choose sound"},
		"too large": {[]string{"--task", "features=99999999"}, "2^28"},
	} {
		code, _, errs := mafalda(append(small, tc.args...)...)
		if code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, want %q: %s", name, code, tc.say, errs)
		}
	}
}
