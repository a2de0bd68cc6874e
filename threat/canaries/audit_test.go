package canaries

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/files"
	"mafalda/strategy"
)

const (
	pythonSigns = "-+-+-++++-+-+-+-------++" // of hashlib and numpy, for the key 0…07
	pythonCoins = "1010011110101110"
)

const (
	steps, every, count = 32, 4, 300
	records             = 40 // that are real
	mu                  = 2.0
)

// made is a training that a test makes up: what its fields do not say is as planned.
type made struct {
	e       *export.Export
	c       *Coins
	layers  []int
	actual  [][]int     // steps in which canaries really take part; nil: as planned
	noising *mat.Dense  // matrix in the place of C⁻¹
	noise   float64     // factor on the noise
	loud    int         // layer that escapes the clip, from 1
	missed  map[int]int // steps without a message; 1: carried, 2: its row is lost
	twice   bool        // every tenth row is the one before
}

func newMade(t *testing.T, seed uint64) *made {
	t.Helper()
	c, inverse := bandedStrategy()
	dir := t.TempDir()
	m := &export.Manifest{Steps: steps, Privacy: &export.Privacy{Mu: mu, Clip: 1, NoiseStd: 1 / mu}}
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, export.ManifestName), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	digest, err := files.SHA256(filepath.Join(dir, export.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	coins := &Coins{Format: coinsFormat, Export: digest, Node: "a", Dim: 4001, Clip: 1, First: records}
	coins.Key = hex.EncodeToString(key[:])
	for i := range count {
		var taken []int
		for s := i % every; s < steps; s += every {
			taken = append(taken, s)
		}
		coins.Steps = append(coins.Steps, taken)
	}
	e := &export.Export{Dir: dir, Manifest: m, C: c, Inverse: inverse}
	return &made{e: e, c: coins, layers: []int{3001, 700, 300}, noise: 1}
}

// bandedStrategy returns a C whose columns have norm 1 over a pattern, and its inverse.
func bandedStrategy() (c, inverse *mat.Dense) {
	c = mat.NewDense(steps, steps, nil)
	for i := range steps {
		for j := max(0, i-every+1); j <= i; j++ { // columns of one pattern have nothing in common
			c.Set(i, j, 1/math.Sqrt(float64(1+i-j)))
		}
	}
	worst := 0.0
	for first := range every {
		sum := mat.NewVecDense(steps, nil)
		for j := first; j < steps; j += every {
			sum.AddVec(sum, c.ColView(j))
		}
		worst = math.Max(worst, mat.Norm(sum, 2))
	}
	c.Scale(1/worst, c)
	inverse = new(mat.Dense)
	if err := inverse.Inverse(c); err != nil {
		panic(err)
	}
	return c, inverse
}

// run records the training, and returns its folder.
func (m *made) run(t *testing.T, seed uint64) string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	dim, size := m.c.Dim, float64(records+count)/every
	o := m.gradients(random)
	z := mat.NewDense(steps, dim, nil)
	z.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, z)
	noising := m.noising
	if noising == nil {
		noising = m.e.Inverse
	}
	var noise mat.Dense
	noise.Mul(noising, z)
	noise.Scale(m.noise/mu, &noise)
	for s := 10; m.twice && s < steps; s += 10 {
		noise.SetRow(s, noise.RawRowView(s-1))
	}
	o.Add(o, &noise)
	carried := make([]float64, dim)
	for s := range steps {
		switch row := o.RawRowView(s); m.missed[s] {
		case 0:
			for j := range row {
				row[j] += carried[j]
			}
			clear(carried)
		case 1:
			for j, v := range noise.RawRowView(s) {
				carried[j] += v
			}
		}
	}
	updates := make([]float32, 0, steps*dim)
	for s := range steps {
		for _, v := range o.RawRowView(s) {
			if m.missed[s] > 0 {
				v = math.NaN()
			}
			updates = append(updates, float32(v/size))
		}
	}
	dir := t.TempDir()
	said, _ := json.Marshal(map[string]any{"format": runFormat, "export": m.c.Export, "node": "a", "dim": dim,
		"steps": steps, "size": size, "momentum": 0, "layers": m.layers})
	bytes, err := binary.Append(nil, binary.LittleEndian, updates)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, updateName), bytes, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, runName), said, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// gradients returns the sums: a drift that real records have in common, and canaries.
func (m *made) gradients(random *rand.Rand) *mat.Dense {
	dim := m.c.Dim
	o := mat.NewDense(steps, dim, nil)
	drift := make([]float64, dim)
	for j := range drift {
		drift[j] = random.NormFloat64() / math.Sqrt(float64(dim)) * records / every / 2
	}
	for s := range steps {
		copy(o.RawRowView(s), drift)
	}
	signs := make([]float32, count*dim)
	newSigns(m.c, count).next(signs, dim)
	actual := m.actual
	if actual == nil {
		actual = m.c.Steps
	}
	for i, took := range m.c.contributions() {
		for _, s := range actual[i] {
			if took == 0 || m.missed[s] > 0 {
				continue
			}
			row, from := o.RawRowView(s), 0
			for l, n := range m.layers {
				scale := took / math.Sqrt(float64(dim))
				if l == m.loud-1 {
					scale *= 10
				}
				for j := from; j < from+n; j++ {
					row[j] += scale * float64(signs[i*dim+j])
				}
				from += n
			}
		}
	}
	for s := range m.missed {
		clear(o.RawRowView(s))
	}
	return o
}

// small gives the model fewer parameters, and the training fewer canaries.
func (m *made) small(dim, canaries int) *made {
	m.c.Dim, m.layers, m.c.Steps = dim, []int{dim / 2, dim - dim/2}, m.c.Steps[:canaries]
	return m
}

func (m *made) audit(t *testing.T, seed uint64) *Result {
	t.Helper()
	r, err := OpenRun(m.run(t, seed))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, err := Audit(context.Background(), m.e, r, m.c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (r *Result) alarms() []string {
	var names []string
	for _, f := range r.Faults {
		if f.Alarm {
			names = append(names, f.Name)
		}
	}
	return names
}

func TestHonestRunsPass(t *testing.T) {
	covered := 0
	const runs = 20
	for seed := range uint64(runs) {
		m := newMade(t, seed)
		if seed%2 == 1 {
			m.missed = map[int]int{3: 1, 4: 1, 17: 1}
		}
		if seed%4 == 0 { // the node has a level of its own, and another one is stricter
			m.e.Manifest.Budgets = []export.NodeLevel{{Node: "b", Mu: mu / 4, Clip: 2, NoiseStd: 8 / mu},
				{Node: "a", Mu: mu, Clip: 1, NoiseStd: 1 / mu}}
			m.e.Manifest.Privacy = &export.Privacy{Mu: mu / 4, Clip: 2, NoiseStd: 8 / mu}
		}
		r := m.audit(t, seed)
		if !r.Passed || r.LowerMu > mu {
			t.Errorf("seed %d: alarms %v, lower mu %v", seed, r.alarms(), r.LowerMu)
		}
		if math.Abs(r.Mu-mu) <= 2*r.MuError {
			covered++
		}
		if r.LowerMu < 0.3 || r.Missed != len(m.missed) {
			t.Errorf("seed %d: lower mu %v, %d steps missed", seed, r.LowerMu, r.Missed)
		}
	}
	if covered < runs-3 { // 95 % each
		t.Errorf("%d of %d estimates cover mu within two standard errors", covered, runs)
	}
}

// With as few parameters as steps, and fewer, statistics are what their limits are for: of mean 0 and variance 1. Of 64
// parameters and 150 canaries every twentieth honest run had an alarm, where one in a thousand is claimed, and of 16
// three in four.
func TestHonestRunsOfSmallModelsPass(t *testing.T) {
	const runs = 100
	for _, tc := range []struct{ dim, canaries int }{{8, 150}, {64, 150}, {256, 300}} {
		squares := map[string]float64{}
		for seed := range uint64(runs) {
			m := newMade(t, seed).small(tc.dim, tc.canaries)
			m.c.Replaced = seed%2 == 1
			if m.c.Replaced {
				m.e.Manifest.Privacy.Adjacency, m.e.Manifest.Privacy.Mu = "replace-one", 2*mu
			}
			r := m.audit(t, seed)
			for _, f := range r.Faults {
				if f.Alarm {
					t.Errorf("%d parameters, %d canaries, seed %d: %s: %s", tc.dim, tc.canaries, seed, f.Name, f.Says)
				}
				squares[f.Name] += f.Statistic * f.Statistic / runs
			}
		}
		for _, name := range []string{"contribution", "participation"} { // Σ of runs squares, each of mean 1 and variance 2
			if v := squares[name]; math.Abs(v-1) > 4*math.Sqrt(2./runs) {
				t.Errorf("%d parameters, %d canaries: %s has variance %v", tc.dim, tc.canaries, name, v)
			}
		}
	}
}

// Where neighbours replace a record, canaries are replaced by their opposites: their coins tell as much as the plan
// claims, and more than those of canaries that are left out; faults are found as before.
func TestReplacedRecordsAreReplaced(t *testing.T) {
	const runs = 6
	adjacency, covered, low, lowLeftOut := "replace-one", 0, 0.0, 0.0
	for seed := range uint64(runs) {
		m := newMade(t, seed)
		m.e.Manifest.Privacy = &export.Privacy{Mu: 2 * mu, Clip: 1, NoiseStd: 1 / mu, Adjacency: adjacency}
		leftOut := m.audit(t, seed)
		m.c.Replaced = true
		r := m.audit(t, seed)
		if !r.Passed || !r.Replaced || r.LowerMu > 2*mu || r.MuError > 0.9*leftOut.MuError {
			t.Errorf("seed %d: alarms %v, mu %v ± %v, at least %v", seed, r.alarms(), r.Mu, r.MuError, r.LowerMu)
		}
		if math.Abs(r.Mu-2*mu) <= 2*r.MuError {
			covered++
		}
		low, lowLeftOut = low+r.LowerMu/runs, lowLeftOut+leftOut.LowerMu/runs
	}
	if covered < runs-2 || low < 1.3*lowLeftOut {
		t.Errorf("%d of %d cover; mu of at least %v, with canaries that are left out %v", covered, runs, low, lowLeftOut)
	}
	for name, fault := range map[string]func(*made){
		"contribution": func(m *made) { m.actual = make([][]int, count) },
		"clipping":     func(m *made) { m.loud = 2 },
	} {
		m := newMade(t, 7)
		m.e.Manifest.Privacy = &export.Privacy{Mu: 2 * mu, Clip: 1, NoiseStd: 1 / mu, Adjacency: adjacency}
		m.c.Replaced = true
		if fault(m); !slices.Contains(m.audit(t, 7).alarms(), name) {
			t.Errorf("no alarm of %s", name)
		}
	}
	m := newMade(t, 1)
	m.c.Replaced = true
	m.e.Manifest.Sampling = &export.Sampling{Scheme: export.SchemePoisson} // without a μ that is claimed
	m.e.Manifest.Privacy = &export.Privacy{Clip: 1, NoiseStd: 1 / mu, Adjacency: adjacency}
	if r := m.audit(t, 1); math.Abs(r.Mu-2*mu) > 4*r.MuError {
		t.Errorf("without a claim mu is %v ± %v, want %v", r.Mu, r.MuError, 2*mu)
	}
	m.e.Manifest.Privacy.Adjacency = "zero-out"
	r, err := OpenRun(m.run(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var unlike *UnfitError
	if _, err := Audit(t.Context(), m.e, r, m.c, Options{}); !errors.As(err, &unlike) {
		t.Errorf("coins that replace records, for records that are there or not: %v", err)
	}
}

func TestFaultsAreFound(t *testing.T) {
	c, _ := bandedStrategy()
	var other mat.Dense
	other.Mul(newMade(t, 0).e.Inverse, eyeWithSubdiagonal(0.5))
	shuffled := make([][]int, count)
	random := rand.New(rand.NewPCG(5, 5))
	for i := range shuffled {
		for s := 0; s < steps; s += every {
			shuffled[i] = append(shuffled[i], s+random.IntN(every))
		}
	}
	for name, tc := range map[string]struct {
		fault func(*made)
		alarm string
		small int // parameters of a model in which 150 canaries find it, too
	}{
		"half the noise":              {func(m *made) { m.noise = 0.5 }, "scale", 128},
		"noise on the mean":           {func(m *made) { m.noise = 85 }, "scale", 64},
		"C for its inverse":           {func(m *made) { m.noising = c }, "scale", 64},
		"rows used twice":             {func(m *made) { m.twice = true }, "correlation", 0},
		"another export":              {func(m *made) { m.noising = &other }, "correlation", 0},
		"carried rows are lost":       {func(m *made) { m.missed = map[int]int{3: 2, 9: 2, 17: 2} }, "correlation", 0},
		"a loader that shuffles":      {func(m *made) { m.actual = shuffled }, "participation", 256},
		"a layer that is not clipped": {func(m *made) { m.loud = 2 }, "clipping", 64},
		"records that are left out":   {func(m *made) { m.actual = make([][]int, count) }, "contribution", 64},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMade(t, 7)
			tc.fault(m)
			if r := m.audit(t, 7); r.Passed || !slices.Contains(r.alarms(), tc.alarm) || len(r.Failures()) == 0 {
				t.Errorf("alarms %v, and %s is not among them", r.alarms(), tc.alarm)
			}
			if tc.small > 0 {
				m := newMade(t, 7).small(tc.small, 150)
				tc.fault(m)
				if r := m.audit(t, 7); !slices.Contains(r.alarms(), tc.alarm) {
					t.Errorf("%d parameters: alarms %v, and %s is not among them", tc.small, r.alarms(), tc.alarm)
				}
			}
		})
	}
}

// Where batches are drawn in secret, the plan's ε counts on draws that the coins of an audit say: a bound above it is
// no failure.
func TestSecretDrawsAreNoClaimForThoseWhoKnowThem(t *testing.T) {
	m := newMade(t, 2)
	epsilon, delta := 0.01, 1e-6
	m.e.Manifest.Privacy = &export.Privacy{Clip: 1, NoiseStd: 1 / mu, Epsilon: &epsilon, Delta: &delta}
	if r := m.audit(t, 2); r.Passed || r.LowerEpsilon <= epsilon {
		t.Errorf("passed %v with epsilon at least %v, where %v is claimed", r.Passed, r.LowerEpsilon, epsilon)
	}
	m.e.Manifest.Sampling = &export.Sampling{Scheme: export.SchemeCyclic}
	if r := m.audit(t, 2); r.Passed {
		t.Error("batches in turn are no secret")
	}
	m.e.Manifest.Sampling.Scheme = export.SchemePoisson
	if r := m.audit(t, 2); !r.Passed || r.ClaimedEpsilon != nil {
		t.Errorf("passed %v, claimed %v", r.Passed, r.ClaimedEpsilon)
	}
}

// Where every node has a level of its own, a node is held to its own, and not to the strictest of all.
func TestNodesAreHeldToTheirOwnLevels(t *testing.T) {
	m := newMade(t, 2)
	strict, delta := 0.01, 1e-6
	m.e.Manifest.Privacy = &export.Privacy{Mu: 0.1, Clip: 1, NoiseStd: 10, Epsilon: &strict, Delta: &delta}
	if r := m.audit(t, 2); r.Passed {
		t.Error("the strictest level has more noise, and passed")
	}
	m.e.Manifest.Budgets = []export.NodeLevel{{Node: "a", Mu: mu, Clip: 1, NoiseStd: 1 / mu}}
	if r := m.audit(t, 2); !r.Passed || r.ClaimedMu == nil || *r.ClaimedMu != mu || *r.ClaimedEpsilon < 5 {
		t.Errorf("passed %v, alarms %v, claimed %v", r.Passed, r.alarms(), r.ClaimedMu)
	}
}

// A strategy that is exported without its matrices is made again from its parameters.
func TestExportsWithoutMatrices(t *testing.T) {
	m := newMade(t, 2)
	m.e.Manifest.Strategy = export.Describe(strategy.Identity(steps))
	m.e.C = nil
	if m.e.Manifest.Strategy.Class == "dense" {
		t.Fatal("the class has no parameters")
	}
	m.noising = eyeWithSubdiagonal(0)
	m.e.Inverse = nil
	if r := m.audit(t, 2); slices.Contains(r.alarms(), "scale") || slices.Contains(r.alarms(), "correlation") {
		t.Errorf("alarms %v", r.alarms())
	}
}

func TestMessagesWithoutNoise(t *testing.T) {
	m := newMade(t, 4)
	m.noise = 0
	r, err := OpenRun(m.run(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if found, err := Audit(context.Background(), m.e, r, m.c, Options{}); !errors.Is(err, ErrNoNoise) {
		t.Errorf("Audit = %v, %v", found, err)
	}
}

func eyeWithSubdiagonal(v float64) *mat.Dense {
	m := mat.NewDense(steps, steps, nil)
	for i := range steps {
		m.Set(i, i, 1)
		if i > 0 {
			m.Set(i, i-1, v)
		}
	}
	return m
}

// Sums in blocks and parts are those of the definition; momentum is taken out.
func TestProjectIsTheDefinition(t *testing.T) {
	m := newMade(t, 3)
	r, err := OpenRun(m.run(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Momentum = 0.5
	sent, err := r.Sent()
	if err != nil {
		t.Fatal(err)
	}
	o, err := messages(m.e, r, sent)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(9, 9))
	draw := func(rows, columns int) *mat.Dense {
		d := mat.NewDense(rows, columns, nil)
		d.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, d)
		return d
	}
	look := &canary{times: make([]float64, 3), design: draw(steps, 3)}
	for range count {
		p, x := random.IntN(3), random.NormFloat64()
		look.pattern, look.took = append(look.pattern, p), append(look.took, x)
		look.times[p] += x * x
	}
	scoring, weights := draw(3, steps), []*mat.Dense{draw(3, steps), draw(3, steps)}
	gram, err := o.Gram(context.Background(), m.c, look, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	scores, found, sizes, err := o.Project(context.Background(), m.c, look, scoring, weights, func(int) {})
	if err != nil || !slices.Equal(sizes, m.layers) {
		t.Fatal(sizes, err)
	}
	u := make([]float32, steps*r.Dim)
	if err := r.read(u, 0, 0); err != nil {
		t.Fatal(err)
	}
	said := mat.NewDense(steps, r.Dim, nil)
	said.Apply(func(i, j int, _ float64) float64 {
		v := float64(u[i*r.Dim+j])
		if i > 0 {
			v -= 0.5 * float64(u[(i-1)*r.Dim+j])
		}
		return v * r.Size
	}, said)
	signs := make([]float32, count*r.Dim)
	newSigns(m.c, count).next(signs, r.Dim)
	d, membership := mat.NewDense(count, r.Dim, nil), mat.NewDense(3, count, nil)
	d.Apply(func(i, j int, _ float64) float64 { return float64(signs[i*r.Dim+j]) }, d)
	for i, p := range look.pattern {
		membership.Set(p, i, look.took[i]/math.Sqrt(float64(r.Dim)))
	}
	var v, template, rest, all, want, scored mat.Dense
	v.Mul(membership, d)
	template.Mul(look.design, &v)
	rest.Sub(said, &template)
	near := func(what string, got, want, scale float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-4*scale {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	from := 0
	for part, n := range m.layers {
		for k, q := range weights {
			var weighed, own mat.Dense
			weighed.Mul(q, rest.Slice(0, steps, from, from+n))
			own.Mul(q, template.Slice(0, steps, from, from+n))
			var expected projection
			for p := range 3 {
				row, of := weighed.RowView(p), v.Slice(0, 3, from, from+n).(*mat.Dense).RowView(p)
				expected.sum += mat.Dot(of, row)
				expected.variance += look.times[p] * mat.Dot(row, row) / float64(r.Dim)
				expected.template += mat.Dot(of, own.RowView(p))
			}
			got := found[k][part]
			near("sum", got.sum, expected.sum, math.Sqrt(expected.variance))
			near("variance", got.variance, expected.variance, expected.variance)
			near("template", got.template, expected.template, mat.Norm(&own, 2)*mat.Norm(&v, 2))
		}
		from += n
	}
	scored.Product(scoring, said, d.T())
	for i, got := range scores {
		near("score", got, scored.At(look.pattern[i], i), mat.Norm(&scored, 2)/math.Sqrt(3*count))
	}
	all.Stack(said, &v)
	want.Mul(&all, all.T())
	if !mat.EqualApprox(&want, gram, 1e-5*mat.Norm(&want, 2)) {
		t.Error("the Gram matrix differs")
	}
	want.Reset()
	want.Mul(&rest, rest.T())
	if left := look.rest(gram); !mat.EqualApprox(&want, left, 1e-5*mat.Norm(&want, 2)) {
		t.Error("the Gram matrix without canaries differs")
	}
}

// Directions do not depend on the blocks in which they are made, and are those of the Python package
// (Canaries.direction).
func TestDirectionsAreTheSameInBlocksAndInPython(t *testing.T) {
	c := &Coins{Key: strings.Repeat("00", 31) + "07", Steps: make([][]int, 16)}
	whole, parts := newSigns(c, 3), newSigns(c, 3)
	all := make([]float32, 3*100)
	whole.next(all, 100)
	from := 0
	for _, width := range []int{1, 3, 8, 5, 40, 7, 36} {
		block := make([]float32, 3*width)
		parts.next(block, width)
		for i := range 3 {
			if !slices.Equal(block[i*width:(i+1)*width], all[i*100+from:i*100+from+width]) {
				t.Fatalf("direction %d differs in columns %d to %d", i, from, from+width)
			}
		}
		from += width
	}
	text := ""
	for _, sign := range all[:24] {
		text += map[float32]string{1: "+", -1: "-"}[sign]
	}
	coins := ""
	for _, in := range c.Included() {
		coins += map[bool]string{true: "1", false: "0"}[in]
	}
	if text != pythonSigns || coins != pythonCoins {
		t.Errorf("signs %s, coins %s; Python has %s, %s", text, coins, pythonSigns, pythonCoins)
	}
}

func TestWhatIsNoRunAndNoCoins(t *testing.T) {
	m := newMade(t, 1)
	dir := m.run(t, 1)
	write := func(name, old, with string) string {
		text, err := os.ReadFile(filepath.Join(dir, runName))
		if err != nil {
			t.Fatal(err)
		}
		other := t.TempDir()
		if err := os.Symlink(filepath.Join(dir, updateName), filepath.Join(other, updateName)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		text = []byte(strings.Replace(string(text), old, with, 1))
		if err := os.WriteFile(filepath.Join(other, runName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return other
	}
	for says, folder := range map[string]string{
		"no run is recorded": t.TempDir(),
		"its format is":      write("format", runFormat, "mafalda run 9"),
		"bytes, and":         write("steps", `"steps":32`, `"steps":31`),
		"layers have":        write("layers", "3001", "3000"),
		"size -1":            write("size", `"size":85`, `"size":-1`),
		"momentum 1":         write("momentum", `"momentum":0`, `"momentum":1`),
	} {
		if r, err := OpenRun(folder); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("OpenRun = %v, %v; want %q", r, err, says)
		}
	}
	r, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for says, change := range map[string]func(c *Coins, e *export.Manifest){
		`node "b"`:            func(c *Coins, _ *export.Manifest) { c.Node = "b" },
		"for 7 parameters":    func(c *Coins, _ *export.Manifest) { c.Dim = 7 },
		"coins are of export": func(c *Coins, _ *export.Manifest) { c.Export = "x" },
		"no noise level":      func(_ *Coins, e *export.Manifest) { e.Privacy = nil },
		"in step 99 of 32":    func(c *Coins, _ *export.Manifest) { c.Steps = [][]int{{0}, {1, 99}} },
	} {
		c, manifest, e := *m.c, *m.e.Manifest, *m.e
		change(&c, &manifest)
		e.Manifest = &manifest
		_, err := Audit(context.Background(), &e, r, &c, Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Audit = %v; want %q", err, says)
		}
	}
	for says, text := range map[string]string{
		"no file of coins": `{"format":"x"}`,
		"32 bytes":         `{"format":"mafalda canaries 1","key":"00"}`,
		"do not ascend": `{"format":"mafalda canaries 1","key":"` + strings.Repeat("0", 64) +
			`","dim":3,"clip":1,"steps":[[1,1],[0]]}`,
		"from 2 to": `{"format":"mafalda canaries 1","key":"` + strings.Repeat("0", 64) + `","dim":3,"clip":1,"steps":[[1]]}`,
		"is damaged": `{"format":"mafalda canaries 1","key":"` + strings.Repeat("0", 64) +
			`","dim":3,"clip":1,"steps":[[1],[0]], "sha256": "00"}`,
	} {
		path := filepath.Join(t.TempDir(), "coins")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := ReadCoins(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ReadCoins = %v, %v; want %q", c, err, says)
		}
	}
}
