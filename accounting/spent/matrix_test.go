package spent

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/internal/npy"
	_ "mafalda/internal/seeded"
	"mafalda/participation"
)

// written returns a .npy file of a matrix.
func written(t interface{ Fatal(...any) }, dir string, c *mat.Dense) string {
	name := filepath.Join(dir, "C.npy")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, columns := c.Dims()
	if err := npy.Write(f, []int{rows, columns}, c.RawMatrix().Data); err != nil {
		t.Fatal(err)
	}
	return name
}

// What correlated noise gives away after some rounds is at least what the worst signs of a unit's contributions do that it then has
// made, and at most the sum of magnitudes; both are one number where C has no negative entry.
func TestMatrixByDefinition(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		least := rapid.SampledFrom([]float64{-1, 0}).Draw(t, "least")
		c := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i {
				c.Set(i, j, rapid.Float64Range(least, 1).Draw(t, "entry"))
			}
			c.Set(i, i, rapid.Float64Range(0.5, 1).Draw(t, "diagonal"))
		}
		b := rapid.IntRange(1, steps).Draw(t, "b")
		k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
		rounds := rapid.IntRange(1, steps).Draw(t, "rounds")
		recipients := rapid.IntRange(1, 3).Draw(t, "recipients")
		schema, err := participation.NewCyclic(steps, k, b)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("unit='record'\ndelta=1e-5\nmechanism='matrix'\nmatrix='%s'\nclip=2\nsigma=6\nrounds=%d\nrecipients=%d\n", written(t, dir, c), rounds,
			recipients)
		if k == rounds && k == steps {
			text += rapid.SampledFrom([]string{"", "participations=" + fmt.Sprint(k) + "\n"}).Draw(t, "default")
		} else {
			text += fmt.Sprintf("participations=%d\nseparation=%d\n", k, b)
		}
		var reached, sum float64
		for _, pattern := range schema.Patterns() {
			for signs := range 1 << len(pattern) {
				var square, magnitudes float64
				for i := range rounds {
					var shift, size float64
					for at, s := range pattern {
						shift += c.At(i, s) * float64(1-2*(signs>>at&1))
						size += math.Abs(c.At(i, s))
					}
					square += shift * shift
					magnitudes += size * size
				}
				reached, sum = math.Max(reached, square), math.Max(sum, magnitudes)
			}
		}
		epsilon := func(squared float64) float64 {
			e, err := accounting.Epsilon(math.Sqrt(squared*float64(recipients))/3, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		a, err := r.Account()
		if err != nil {
			t.Fatal(err)
		}
		if got := total(a); got < epsilon(reached)*(1-1e-12) || got > epsilon(sum)*(1+2e-6) {
			t.Fatalf("%s: ε = %v, from %v to %v", text, got, epsilon(reached), epsilon(sum))
		}
	})
}

// The identity is independent noise, alone and with phases that are drawn in secret.
func TestMatrixOfIndependentNoise(t *testing.T) {
	name := written(t, t.TempDir(), mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}))
	const tail = "\n[[phase]]\nprobability=0.1\nrounds=5"
	for _, rest := range []string{"", tail} {
		got := total(account(t, "unit='record'\ndelta=1e-5\nclip=1\nsigma=2\n[[phase]]\nmechanism='matrix'\nmatrix='"+name+"'\nrounds=3"+rest))
		want := total(account(t, "unit='record'\ndelta=1e-5\nclip=1\nsigma=2\n[[phase]]\nrounds=3"+rest))
		if math.Abs(got/want-1) > 1e-4 {
			t.Errorf("ε = %v, must be %v", got, want)
		}
	}
}

// Participations without a separation are evenly apart in the rounds of the phase, of which the matrix may have more.
func TestMatrixParticipationsInFewerRounds(t *testing.T) {
	identity := mat.NewDense(12, 12, nil)
	for i := range 12 {
		identity.Set(i, i, 1)
	}
	text := "unit='record'\ndelta=1e-5\nclip=1\nsigma=2\nmechanism='matrix'\nmatrix='" + written(t, t.TempDir(), identity) + "'\nrounds=6\n"
	for k := range 6 {
		if k++; 6%k != 0 {
			continue
		}
		got := total(account(t, text+fmt.Sprintf("participations=%d", k)))
		want := total(account(t, fmt.Sprintf("unit='record'\ndelta=1e-5\nclip=1\nsigma=2\nrounds=%d", k)))
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d times in 6 of 12 rounds: ε = %v, must be %v", k, got, want)
		}
	}
	if _, err := Read(strings.NewReader(text + "participations=7")); err == nil {
		t.Error("7 times in 6 rounds is taken")
	}
}

// What is no matrix, or says what only other noise has, is one clear line.
func TestBadMatrices(t *testing.T) {
	dir := t.TempDir()
	good := "unit='silo'\ndelta=1e-5\nrounds=2\nclip=1\nsigma=1\nmechanism='matrix'\n"
	name := "matrix='" + written(t, dir, mat.NewDense(2, 2, []float64{1, 0, 1, 1})) + "'\n"
	above := "matrix='" + written(t, t.TempDir(), mat.NewDense(2, 2, []float64{1, 1, 0, 1})) + "'\n"
	small := "matrix='" + written(t, t.TempDir(), mat.NewDense(2, 2, []float64{1e-200, 0, 1e-200, 1e-200})) + "'\n"
	account(t, good+name)
	if r, err := Read(strings.NewReader(good + small)); err != nil {
		t.Error(err)
	} else if _, err = r.Account(); err == nil || !strings.Contains(err.Error(), "entries are out of range") {
		t.Errorf("entries of 1e-200: %v", err)
	}
	for text, want := range map[string]string{
		good:                              "matrix: which?",
		good + above:                      "must be lower triangular",
		good + "matrix='nowhere.npy'":     "no such file",
		good + "matrix='" + dir + "'":     "no export here",
		good + name + "participations=-1": "must be at least 0",
		good + name + "participations=3":  "participations 3: participation does not fit",
		good + name + "probability=0.5":   "leave it out",
		good + name + "count_std=1":       "leave it out",
		good + name + "rounds=3":          "no description",
		"unit='silo'\ndelta=1e-5\nrounds=3\nclip=1\nsigma=1\nmechanism='matrix'\n" + name:   "rounds 3: must be at most 2",
		"unit='silo'\ndelta=1e-5\nrounds=2\nclip=1\nepsilon=1\nmechanism='matrix'\n" + name: "leave it out",
		"unit='silo'\ndelta=1e-5\nrounds=2\nclip=1\nsigma=1\nseparation=2":                  "separation 2 is of mechanism matrix",
		"preset='nvflare-gaussian'\ndelta=1e-5\nrounds=2\nclip=1\nsigma=1":                  "no release of NVFlare (2.0.0 to 2.9.0)",
	} {
		checkRefusal(t, text, want)
	}
}
