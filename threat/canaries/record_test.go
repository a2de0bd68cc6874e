package canaries

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/accounting/spent"
	"mafalda/internal/npy"
)

// program is a foreign program: what its fields do not say is as it claims.
type program struct {
	dim, canaries, rounds, others int
	senders                       bool
	probability                   float64
	claim                         string // its description in TOML, without rounds and delta
	std                           float64
	recipients                    int // that get noise of their own
	weights, unclipped, twice     bool
	noise                         float64 // times what is claimed; 0 means 1
	correlated, claimed           bool    // noise, and noising.npy
}

// local is Flower's LocalDpMod: senders add noise to their updates.
func local() program {
	return program{dim: 400, canaries: 24, rounds: 10, senders: true,
		claim: "preset='flower-local-dp'\nclip=1\nepsilon=3", std: math.Sqrt(2*math.Log(1.25e5)) / 3}
}

// central adds noise to sums of clipped updates.
func central() program {
	return program{dim: 3000, canaries: 100, rounds: 10, others: 20,
		claim: "preset='flower-central-dp'\nnoise_multiplier=4", std: 4}
}

// drawn is DP-SGD with Poisson batches.
func drawn() program {
	return program{dim: 3000, canaries: 100, rounds: 20, others: 40, probability: 0.2,
		claim: "preset='opacus'\nclip=1\nprobability=0.2\nnoise_multiplier=2", std: 2}
}

// sealed writes a file with its checksum.
func sealed(t *testing.T, path string, said map[string]any) (digest string) {
	t.Helper()
	delete(said, "sha256")
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	text = text[:len(text)-1]
	sum := sha256.Sum256(text)
	text = fmt.Appendf(text, ", \"sha256\": \"%x\"}\n", sum)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sum = sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// run records a run of the program in a new folder.
func (p program) run(t *testing.T, seed uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	random := rand.New(rand.NewPCG(seed, 7))
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	coins := &Coins{Key: hex.EncodeToString(key[:]), Dim: p.dim, Clip: 1, Steps: make([][]int, p.canaries)}
	digest := sealed(t, filepath.Join(dir, coinsName),
		map[string]any{"format": coinsFormat, "export": "", "node": "", "dim": p.dim, "clip": 1,
			"key": coins.Key, "first": 0, "steps": noSteps(p.canaries)})
	signs := make([]float32, p.canaries*p.dim)
	newSigns(coins, p.canaries).next(signs, p.dim)
	in := coins.Included()
	weights, drift := make([]float64, p.dim), make([]float64, p.dim)
	for j := range weights {
		weights[j] = 4 * random.NormFloat64() / math.Sqrt(float64(p.dim))
		drift[j] = random.NormFloat64() / math.Sqrt(float64(p.dim)) * float64(p.others) / 2
	}
	streams := 1
	if p.senders {
		streams = p.canaries
	}
	past := make([][]float64, streams)
	var rounds []any
	for r := range p.rounds {
		said := map[string]any{}
		var took, senders []int
		var rows []float64
		for i := range p.canaries {
			if p.probability == 0 || random.Float64() < p.probability {
				took = append(took, i)
			}
		}
		for s := range streams {
			sum := make([]float64, p.dim)
			copy(sum, drift)
			for _, i := range took {
				if !in[i] || p.senders && i != s {
					continue
				}
				scale := 1 / math.Sqrt(float64(p.dim))
				if p.unclipped {
					scale *= 10
				}
				for j := range sum {
					sum[j] += scale * float64(signs[i*p.dim+j])
				}
			}
			if p.weights { // what is clipped is the model
				norm := 0.
				for j := range sum {
					sum[j] = weights[j] + 10*sum[j]
					norm += sum[j] * sum[j]
				}
				for j := range sum {
					sum[j] = sum[j]/math.Max(1, math.Sqrt(norm)) - weights[j]
				}
			}
			for range max(p.recipients, 1) {
				noise := make([]float64, p.dim)
				for j := range noise {
					noise[j] = random.NormFloat64()
				}
				if p.twice && r == 5 && s == 0 {
					copy(noise, past[0])
				}
				kept := append([]float64(nil), noise...)
				for j := range noise {
					if p.correlated && r > 0 {
						noise[j] -= past[s][j] / 2
					}
					noise[j] *= p.std
					if p.noise > 0 {
						noise[j] *= p.noise
					}
					rows = append(rows, sum[j]+noise[j])
				}
				past[s] = kept
				senders = append(senders, s)
			}
		}
		said["rows"] = len(senders)
		if p.senders {
			said["senders"] = senders
		}
		if p.probability > 0 {
			said["drawn"] = append([]int{}, took...)
		}
		record := &Record{coins: coins, Rounds: []Round{{Rows: len(senders)}}}
		content := record.head(0)
		for _, v := range rows {
			content = binary.LittleEndian.AppendUint32(content, math.Float32bits(float32(v)))
		}
		sum := sha256.Sum256(content)
		said["sha256"] = hex.EncodeToString(sum[:])
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("round-%04d.npy", r)), content, 0o600); err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, said)
	}
	sealed(t, filepath.Join(dir, recordName), map[string]any{"format": recordFormat, "coins": digest, "rounds": rounds})
	return dir
}

// noSteps are of canaries without a plan.
func noSteps(n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		out[i] = []int{}
	}
	return out
}

// described returns the run that the program claims to be.
func (p program) described(t *testing.T) *spent.Run {
	t.Helper()
	run, err := spent.Read(strings.NewReader(fmt.Sprintf("%s\nrounds=%d\ndelta=1e-5\n", p.claim, p.rounds)))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (p program) audit(t *testing.T, seed uint64, o Options) *Result {
	t.Helper()
	dir := p.run(t, seed)
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.claimed {
		r.noising, r.correlated = lagged(p.rounds), true
	}
	found, err := AuditRecord(context.Background(), r, p.described(t), o)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(dir)
	return found
}

// written writes a matrix, and returns the checksum of the file.
func written(t *testing.T, path string, m *mat.Dense) string {
	t.Helper()
	var b bytes.Buffer
	rows, columns := m.Dims()
	if err := npy.Write(&b, []int{rows, columns}, m.RawMatrix().Data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
}

// lagged is the matrix of noise of which every round takes half of the last round's away.
func lagged(rounds int) *mat.Dense {
	m := mat.NewDense(rounds, rounds, nil)
	for t := range rounds {
		m.Set(t, t, 1)
		if t > 0 {
			m.Set(t, t-1, -0.5)
		}
	}
	return m
}

// Of 200 honest runs no more are refused than the confidence says (with 99.9 % of what is binomial), and of 60 at a
// confidence of 50 %.
func TestHonestProgramsPass(t *testing.T) {
	correlated := local()
	correlated.correlated, correlated.claimed = true, true
	several := local()
	several.recipients, several.claim = 2, several.claim+"\nrecipients=2"
	described, c := correlated, new(mat.Dense)
	if err := c.Inverse(lagged(described.rounds)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "C.npy")
	written(t, path, c)
	described.claimed, described.claim = false,
		fmt.Sprintf("unit='silo'\nclip=1\nmechanism='matrix'\nsigma=%v\nmatrix='%s'", described.std, path)
	if described.audit(t, 1, Options{}).ClaimedEpsilon == nil {
		t.Error("no ε is claimed with noise that the description says")
	}
	programs := []program{local(), central(), drawn(), correlated, several, described}
	for confidence, runs := range map[float64]int{0.95: 200, 0.5: 60} {
		refused, above := 0, 0
		for seed := range uint64(runs) {
			r := programs[seed%uint64(len(programs))].audit(t, seed+1000*uint64(confidence*100),
				Options{Confidence: confidence})
			if !r.Passed {
				refused++
				t.Logf("seed %d: %v", seed, r.Failures())
			}
			if r.ClaimedEpsilon != nil && r.LowerEpsilon > *r.ClaimedEpsilon {
				above++
			}
		}
		most := 0
		for b := (distuv.Binomial{N: float64(runs), P: 1 - confidence}); b.CDF(float64(most)) < 0.999; {
			most++
		}
		if refused > most || above > most/2 {
			t.Errorf("confidence %v: %d of %d honest runs are refused, %d bounds are above what is claimed; at most %d",
				confidence, refused, runs, above, most)
		}
	}
}

// Every mistake is found in 20 of 20 runs, by its own name.
func TestMistakesAreFound(t *testing.T) {
	changed := func(p program, change func(p *program)) program { change(&p); return p }
	for name, tc := range map[string]struct {
		p     program
		total float64
		want  string
	}{
		"ε of a round for the whole run": {changed(local(), func(p *program) {
			p.canaries, p.rounds, p.dim, p.std = 128, 5, 200, p.std/2
			p.claim = strings.Replace(p.claim, "epsilon=3", "epsilon=6", 1)
		}), 6, "epsilon is at least"},
		"noise for every neighbour":     {changed(local(), func(p *program) { p.recipients = 2 }), 0, "recipients: "},
		"the same, in a sum":            {changed(central(), func(p *program) { p.recipients = 2 }), 0, "recipients: "},
		"weights are clipped":           {changed(local(), func(p *program) { p.weights = true }), 0, "update: "},
		"nothing is clipped":            {changed(local(), func(p *program) { p.unclipped = true }), 0, "clip: "},
		"nothing is clipped in a sum":   {changed(central(), func(p *program) { p.unclipped = true }), 0, "clip: "},
		"nor in batches":                {changed(drawn(), func(p *program) { p.unclipped = true }), 0, "clip: "},
		"the same noise twice":          {changed(local(), func(p *program) { p.twice = true }), 0, "freshness: "},
		"the same, in a sum ":           {changed(central(), func(p *program) { p.twice = true }), 0, "freshness: "},
		"0.8 of the noise":              {changed(local(), func(p *program) { p.noise = 0.8 }), 0, "scale: "},
		"the same, in a sum  ":          {changed(central(), func(p *program) { p.noise = 0.8 }), 0, "scale: "},
		"the same, in batches":          {changed(drawn(), func(p *program) { p.noise = 0.8 }), 0, "scale: "},
		"correlation that is not there": {changed(local(), func(p *program) { p.claimed = true }), 0, "correlation: "},
		"correlation that is": {changed(local(), func(p *program) { p.correlated = true }), 0,
			"correlation: "},
	} {
		for seed := range uint64(20) {
			r := tc.p.audit(t, seed, Options{Epsilon: tc.total})
			if said := strings.Join(r.Failures(), "; "); r.Passed || !strings.Contains(said, tc.want) {
				t.Errorf("%s, seed %d: %q, %+v", name, seed, said, r.Faults)
			}
		}
	}
}

// What the Gram matrix says is what its definition says, with every number at hand.
func TestEvidenceIsItsDefinition(t *testing.T) {
	sum := central()
	sum.dim, sum.canaries, sum.rounds, sum.probability = width+37, 7, 5, 0.5
	own := local()
	own.dim, own.canaries, own.rounds, own.recipients, own.claimed = 300, 5, 4, 2, true
	for _, p := range []program{sum, own} {
		r, err := OpenRecord(p.run(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		if p.claimed {
			r.noising, r.correlated = lagged(p.rounds), true
		}
		c := &claimed{Record: r, run: p.described(t), senders: p.senders}
		if err := c.fit(); err != nil {
			t.Fatal(err)
		}
		if err := c.look(context.Background(), func(int, int) {}); err != nil {
			t.Fatal(err)
		}
		n, m, d := len(r.kept), p.canaries, p.dim
		all, signs := make([]float32, n*d), make([]float32, m*d)
		if err := r.read(all, 0, d); err != nil {
			t.Fatal(err)
		}
		newSigns(r.coins, m).next(signs, d)
		y, directions := mat.NewDense(n, d, nil), mat.NewDense(m, d, nil)
		directions.Apply(func(i, j int, _ float64) float64 { return float64(signs[i*d+j]) / math.Sqrt(float64(d)) },
			directions)
		y.Apply(func(i, j int, _ float64) float64 { return float64(all[i*d+j]) }, y)
		var white, e, own, of, template, arrived mat.Dense
		white.Mul(c.whitening, y)
		own.Mul(c.x, directions)
		e.Sub(&white, &own)
		of.Mul(c.x.T(), &e)
		template.Mul(c.x.T(), &own)
		arrived.Mul(&e, e.T())
		var want projection
		for i := range m {
			want.sum += mat.Dot(of.RowView(i), directions.RowView(i))
			want.template += mat.Dot(template.RowView(i), directions.RowView(i))
			want.variance += mat.Dot(of.RowView(i), of.RowView(i)) / float64(d)
			var score mat.VecDense
			score.MulVec(&white, directions.RowView(i))
			v := mat.Dot(&score, c.f.ColView(i)) / mat.Norm(c.f.ColView(i), 2)
			if math.Abs(v-c.scores[i]) > 1e-4*(1+math.Abs(v)) {
				t.Errorf("score %d is %v, want %v", i, c.scores[i], v)
			}
		}
		for what, pair := range map[string][2]float64{"sum": {c.clip.sum, want.sum},
			"variance": {c.clip.variance, want.variance},
			"template": {c.clip.template, want.template}} {
			if math.Abs(pair[0]-pair[1]) > 1e-4*(1+math.Abs(pair[1])) {
				t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
			}
		}
		if !mat.EqualApprox(c.energy, &arrived, 1e-4*float64(d)) {
			t.Error("the energies are others")
		}
	}
}

// A guess by what one sender released is right as often as two hypotheses can be told apart: a level that is not
// rejected lets as many be right with more than alpha, and one that is does not, by sums of the binomial.
func TestBoundOfSendersIsBinomial(t *testing.T) {
	accuracy := func(trade func(float64) float64) (best float64) { // (p + 1 - q)/2 of the best event
		for p := 0.; p <= 1; p += 1e-5 {
			best = math.Max(best, (p+1-trade(p))/2)
		}
		return best
	}
	for _, of := range []family{gaussian, approximate(1e-3)} {
		for _, tc := range []struct{ m, right int }{{40, 36}, {64, 64}, {100, 62}, {20, 10}, {9, 0}} {
			level := of.alone(tc.m, tc.right, 0.05)
			tail := func(level float64) float64 {
				b := distuv.Binomial{N: float64(tc.m), P: accuracy(of(level))}
				return b.Survival(float64(tc.right) - 1)
			}
			if level > 0 && tail(level*0.99) > 0.05 || tail(level*1.01+1e-3) < 0.05 {
				t.Errorf("%+v: level %v has tails %v and %v", tc, level, tail(level*0.99), tail(level*1.01+1e-3))
			}
		}
	}
}

// Randomized response is of (ε, 0)-DP, and of no Gaussian trade-off: the bound for one run holds for it.
func TestBoundOfAnyMechanism(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const m, runs, alpha = 200, 200, 0.1
	for _, epsilon := range []float64{0.5, 2} {
		above, sum := 0, 0.
		for range runs {
			scores, in := make([]float64, m), make([]bool, m)
			for i := range scores {
				in[i] = random.IntN(2) == 1
				if said := random.Float64() < math.Exp(epsilon)/(1+math.Exp(epsilon)); said == in[i] {
					scores[i] = 1
				}
				scores[i] += 1e-3 * random.Float64()
			}
			bound := approximate(1e-6).lower(scores, in, alpha)
			sum += bound / runs
			if bound > epsilon {
				above++
			}
		}
		if above > int(alpha*runs) || sum < epsilon/3 {
			t.Errorf("ε = %v: %d of %d bounds are above it, mean %v", epsilon, above, runs, sum)
		}
	}
}

// What is no whole record of one run is one clear line.
func TestWhatIsNoRecord(t *testing.T) {
	p := local()
	p.dim, p.canaries, p.rounds = 50, 6, 3
	edit := func(name string, change func([]byte) []byte) func(dir string) {
		return func(dir string) {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), change(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	said := func(change func(all map[string]any, first map[string]any)) func(dir string) { // with the right checksums
		return func(dir string) {
			var all map[string]any
			content, err := os.ReadFile(filepath.Join(dir, recordName))
			if err == nil {
				err = json.Unmarshal(content, &all)
			}
			if err != nil {
				t.Fatal(err)
			}
			first := all["rounds"].([]any)[0].(map[string]any)
			change(all, first)
			if file, err := os.ReadFile(filepath.Join(dir, "round-0000.npy")); err == nil {
				first["sha256"] = fmt.Sprintf("%x", sha256.Sum256(file))
			}
			sealed(t, filepath.Join(dir, recordName), all)
		}
	}
	both := func(one, other func(dir string)) func(dir string) { return func(dir string) { one(dir); other(dir) } }
	nothing := said(func(map[string]any, map[string]any) {})
	for want, change := range map[string]func(dir string){
		"the record was not closed, and is not audited": func(dir string) { os.Remove(filepath.Join(dir, recordName)) },
		"round-0001.npy is missing: round 1 of 3": func(dir string) {
			os.Remove(filepath.Join(dir, "round-0001.npy"))
		},
		"was changed": edit("round-0002.npy", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }),
		"is no float32 array of shape (6, 50), or was cut": edit("round-0000.npy", func(b []byte) []byte {
			return b[:len(b)-25]
		}),
		"is no float32 array of shape (6, 50)": edit("round-0000.npy", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "<f4", "<i4", 1))
		}),
		"record.json is damaged": edit(recordName, func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "senders\":[0,1", "senders\":[1,0", 1))
		}),
		"coins.json is damaged": edit(coinsName, func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "key\":\"0", "key\":\"1", 1))
		}),
		"has the coins of another record": func(dir string) {
			os.Link(filepath.Join(p.run(t, 99), coinsName), filepath.Join(dir, "x"))
			os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, coinsName))
		},
		"it is no record: its format is \"mafalda\"": said(func(all, _ map[string]any) { all["format"] = "mafalda" }),
		"nothing was released":                       said(func(all, first map[string]any) { all["rounds"] = []any{} }),
		"6 rows of 5 senders": said(func(_, first map[string]any) {
			first["senders"] = []int{0, 1, 2, 3, 4}
		}),
		"a canary beyond the 6": said(func(_, first map[string]any) {
			first["senders"] = []int{0, 1, 2, 3, 4, 6}
		}),
		"parameter 3 of row 2 is NaN": both(edit("round-0000.npy", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[len(b)-4*(4*50-3):], math.Float32bits(float32(math.NaN())))
			return b
		}), nothing),
		"the description has 3 rounds, and 2 are recorded": said(func(all, _ map[string]any) {
			all["rounds"] = all["rounds"].([]any)[:2]
		}),
		"no canary took part": said(func(all, _ map[string]any) {
			for _, r := range all["rounds"].([]any) {
				r.(map[string]any)["drawn"] = []int{}
			}
		}),
		"round-0001.npy is longer than its 6 rows": edit("round-0001.npy", func(b []byte) []byte {
			return append(b, 0)
		}),
		"shape [2 2], and 3 rounds": func(dir string) {
			digest := written(t, filepath.Join(dir, noisingName), mat.NewDense(2, 2, nil))
			said(func(all, _ map[string]any) { all["noising"] = digest })(dir)
		},
		"noising.npy: the noise of the messages has no positive covariance": func(dir string) {
			digest := written(t, filepath.Join(dir, noisingName), mat.NewDense(3, 3, nil))
			said(func(all, _ map[string]any) { all["noising"] = digest })(dir)
		},
		"noising.npy is not of this record": func(dir string) {
			written(t, filepath.Join(dir, noisingName), mat.NewDense(3, 3, nil))
		},
		"noising.npy: no such file": said(func(all, _ map[string]any) { all["noising"] = "ab" }),
	} {
		dir := p.run(t, 2)
		change(dir)
		r, err := OpenRecord(dir)
		if err == nil {
			_, err = AuditRecord(context.Background(), r, p.described(t), Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want %q", err, want)
		}
	}
	silent := p
	silent.canaries, silent.rounds, silent.std, silent.claim = 24, 10, p.std/10,
		strings.Replace(p.claim, "=3", "=30", 1)
	for want, change := range map[string]func(c *Coins, run *spent.Run){
		"all coins are alike":            func(c *Coins, _ *spent.Run) { c.Steps = c.Steps[:2] },
		"the description says 2":         func(_ *Coins, run *spent.Run) { run.Phases[0].Clip = 2 },
		"they say too little of the run": func(c *Coins, _ *spent.Run) { c.Key = strings.Repeat("ab", 32) },
	} {
		found := ""
		for seed := range uint64(8) { // of two coins some are alike
			r, err := OpenRecord(silent.run(t, seed))
			if err != nil {
				t.Fatal(err)
			}
			run := silent.described(t)
			change(r.coins, run)
			for k := range r.kept {
				r.kept[k].sender %= len(r.coins.Steps)
			}
			if _, err := AuditRecord(context.Background(), r, run, Options{}); err != nil {
				found += err.Error() + "; "
			}
		}
		if !strings.Contains(found, want) {
			t.Errorf("%q; want %q", found, want)
		}
	}
}
