package plan_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/secrets"
	"mafalda/workload"
)

// writeShared writes the optimum of a network whose neighbours share noise, of k participations in T steps, against
// coalitions of a size.
func writeShared(t testing.TB, dir, network string, class factorize.Class, shape [3]int) {
	t.Helper()
	steps, k, size := shape[0], shape[1], shape[2]
	n := must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: network}))
	w := must(workload.NewSpaceTime(n.Gossip.Matrix(), steps, workload.Options{}))
	schema := must(participation.Complete(steps, k, 0))
	p := spacetime.Problem{Workload: w, Schema: schema, Class: class, Setting: spacetime.Setting{
		Secrets: secrets.OfEdges(n.Graph), Attackers: must(secrets.Colluding(n.Graph.Nodes(), size))}}
	r := must(spacetime.Optimize(t.Context(), p, spacetime.Options{}))
	joint := must(spacetime.JointLowerBound(t.Context(), p, r, spacetime.Options{}))

	x := exported{network: graph.NetworkOptions{Source: network}, problem: plan.Problem{Schema: schema},
		options: plan.Options{Class: class, NoBaselines: true}}
	base := filepath.Join(t.TempDir(), "base")
	x.to(t, base)
	m := *must(export.Load(base)).Manifest
	c := r.Time.Strategy
	m.Strategy, m.SensSquared, m.SquaredError, m.Loss = export.Describe(c), r.Time.Sensitivity.Squared, r.Time.SquaredError, r.Loss
	m.RMSE = r.Time.RMSE(n.Graph.Nodes(), float64(steps))
	m.Trust, m.LDPLoss, m.JointLowerBound, m.LowerBound, m.Gap = export.TrustSecLDP, r.LDP.Loss, joint, 0, 0
	m.History, m.Tolerance = nil, 1e-4
	gap := r.Time.Gap
	if math.IsInf(gap, 1) { // no certificate: from the best of all strategies
		h := must(w.TimeGram(t.Context(), r.Noise.Covariance()))
		best := must(factorize.Dense{}.Optimize(t.Context(), factorize.Mean(h), schema, factorize.Options{}))
		gap = (r.Loss - best.LowerBound) / best.LowerBound
	}
	labels := func(nodes []int) []string {
		all := []string{}
		for _, v := range nodes {
			all = append(all, n.Graph.Label(v))
		}
		return all
	}
	m.Space = &export.Space{Secrets: export.Secrets{Source: export.SecretsGossip, Pairs: len(p.Secrets.Pairs())},
		Coalitions: export.Coalitions{Size: size}, GapSpace: r.SpaceGap, GapTime: gap,
		Worst: export.Worst{Attacker: labels(r.Worst.Attacker), Victim: n.Graph.Label(r.Worst.Victim), Value: r.Worst.Value}}
	shared := must(export.NewSharedNoise(n.Graph.Labels(), r.Noise))
	files := append(must(shared.Files(n.Graph)), must(export.Matrices(c, export.FormatNPY))...)
	if err := export.WriteDir(dir, &m, files, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// The optimum verifies, of all classes and sizes of coalitions.
func TestVerifySharedExports(t *testing.T) {
	for name, x := range map[string]struct {
		network string
		class   factorize.Class
		shape   [3]int
	}{
		"florentine":  {"florentine", factorize.Dense{}, [3]int{16, 4, 1}},
		"complete":    {"complete:5", factorize.Dense{}, [3]int{6, 2, 1}},
		"coalitions":  {"cycle:6", factorize.Dense{}, [3]int{6, 2, 2}},
		"banded":      {"path:4", factorize.Banded{Bandwidth: 2}, [3]int{6, 2, 1}},
		"blt":         {"path:4", factorize.BLT{Buffers: 2}, [3]int{6, 2, 1}},
		"one message": {"hypercube:2", factorize.Toeplitz{}, [3]int{6, 3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			writeShared(t, dir, x.network, x.class, x.shape)
			r, err := verified(t, dir, plan.NetworkFiles{})
			if err != nil || !r.OK() {
				t.Errorf("%v, %+v", err, r.Failures())
			}
		})
	}
}

// Nothing that is said of shared noise can be changed without notice: no leaf of the manifest, and no standard deviation,
// also where the hashes of the files are made to fit.
func TestVerifyNoticesSharedLeaves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	writeShared(t, dir, "path:4", factorize.Dense{}, [3]int{6, 2, 1})
	_, manifest := readGeneric(t, dir)
	for _, c := range changes("", manifest, nil) {
		c.apply()
		writeGeneric(t, dir, manifest)
		c.undo()
		if r, err := verified(t, dir, plan.NetworkFiles{}); !noticed(r, err, c.path) {
			t.Errorf("%s %s is not noticed", c.path, c.about)
		}
	}
	for _, key := range []string{"gap_space", "gap_time"} { // those whose last digits are not checked
		space := manifest["space"].(map[string]any)
		for _, to := range []any{0, 0.5} {
			was := space[key]
			space[key] = to
			writeGeneric(t, dir, manifest)
			space[key] = was
			if r, err := verified(t, dir, plan.NetworkFiles{}); err != nil || r.OK() {
				t.Errorf("%s of %v is not noticed: %v", key, to, err)
			}
		}
	}
	for _, key := range []string{"ldp_loss", "joint_lower_bound"} {
		was := manifest[key]
		for _, by := range []float64{1.001, 0.999} {
			manifest[key] = must(strconv.ParseFloat(string(was.(json.Number)), 64)) * by
			writeGeneric(t, dir, manifest)
			if r, err := verified(t, dir, plan.NetworkFiles{}); err != nil || r.OK() {
				t.Errorf("%s times %v is not noticed: %v", key, by, err)
			}
		}
		manifest[key] = was
	}
	for _, name := range []string{"nodes.csv", "pairs.csv"} {
		tamperDeviations(t, dir, name, manifest)
	}
}

// tamperDeviations changes every standard deviation of a file, and its hash with it.
func tamperDeviations(t *testing.T, dir, name string, manifest map[string]any) {
	t.Helper()
	path := filepath.Join(dir, name)
	text := must(os.ReadFile(path))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	files := manifest["files"].(map[string]any)
	for i := 1; i < len(lines); i++ {
		cut := strings.LastIndex(lines[i], ",") + 1
		was := must(strconv.ParseFloat(lines[i][cut:], 64))
		for _, by := range []float64{0, 1 - 1e-6, 1 + 1e-6, 2} {
			line := lines[i][:cut] + strconv.FormatFloat(was*by, 'g', -1, 64)
			changed := bytes.Replace(text, []byte(lines[i]), []byte(line), 1)
			hash, sum := files[name], sha256.Sum256(changed)
			files[name] = hex.EncodeToString(sum[:])
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			writeGeneric(t, dir, manifest)
			files[name] = hash
			if r, err := verified(t, dir, plan.NetworkFiles{}); err == nil && r.OK() {
				t.Errorf("%s: %q instead of %q is not noticed", name, line, lines[i])
			}
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
