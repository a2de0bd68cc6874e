package canaries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/internal/dense"
	"mafalda/internal/files"
	"mafalda/internal/rounding"
	"mafalda/strategy"
)

// ErrNoNoise is returned for messages that have a thousandth of the noise that the plan says, or none.
var ErrNoNoise = errors.New("the messages have no noise: they give everything away")

// Options tunes Audit. The zero value asks for the defaults named here.
type Options struct {
	Confidence float64 // confidence of the lower bound of ε; 0 means 0.95
	FalseAlarm float64 // probability that an honest run has any alarm; 0 means 0.001
	Delta      float64 // 0 means the export's
	Epsilon    float64 // that is claimed of a Record; 0 means what its description comes to
	Progress   func(done, all int)
}

// Fault is a statistic that says whether something people get wrong went wrong.
type Fault struct {
	Name      string  `json:"name"`
	Alarm     bool    `json:"alarm"`
	Statistic float64 `json:"statistic"`
	Limit     float64 `json:"limit"` // largest statistic without an alarm
	Says      string  `json:"says"`
}

// Result is what the audit of a run found.
type Result struct {
	Node     string `json:"node"`
	Canaries int    `json:"canaries"`
	Included int    `json:"included"`           // number of canaries that their coins include
	Replaced bool   `json:"replaced,omitempty"` // all others by their opposite; else they are left out
	Missed   int    `json:"missed"`             // steps without a message

	Mu         float64  `json:"mu"`       // estimate
	MuError    float64  `json:"mu_error"` // its standard error
	ClaimedMu  *float64 `json:"claimed_mu,omitempty"`
	LowerMu    float64  `json:"lower_mu"` // no μ below it is true, with confidence
	Confidence float64  `json:"confidence"`
	// LowerEpsilon is what LowerMu is at Delta, and ClaimedEpsilon the plan's, absent where batches are drawn in
	// secret: the plan then counts on draws that are unknown, and the coins say them.
	LowerEpsilon   float64  `json:"lower_epsilon"`
	Delta          float64  `json:"delta"`
	ClaimedEpsilon *float64 `json:"claimed_epsilon,omitempty"`

	Attacker string   `json:"attacker,omitempty"`  // who received the messages; absent: everybody
	LinearMu *float64 `json:"linear_mu,omitempty"` // μ for Attacker if gradients do not react: no guarantee
	AloneMu  *float64 `json:"alone_mu,omitempty"`  // where nodes share noise: for who has these messages alone

	Faults []Fault `json:"faults"`
	Passed bool    `json:"passed"`

	// Scores are of the canaries, for other auditors: about N(μ_i, 1), less where gradients disturb, or with the coin
	// false N(0, 1).
	Scores []float64 `json:"scores,omitempty"`
	Coins  []bool    `json:"coins,omitempty"`

	Gradients bool `json:"gradients,omitempty"` // the record is of what an optimizer was given

	// Releases counts what a Record has, and Announced is the ε that is announced for a round of it.
	Releases  int     `json:"releases,omitempty"`
	Announced float64 `json:"announced,omitempty"`
}

// Failures lists what is not as planned.
func (r *Result) Failures() []string {
	var failures []string
	for _, f := range r.Faults {
		if f.Alarm {
			failures = append(failures, f.Name+": "+f.Says)
		}
	}
	if r.ClaimedEpsilon != nil && r.LowerEpsilon > *r.ClaimedEpsilon {
		failures = append(failures, fmt.Sprintf("epsilon is at least %s, more than the claimed %s",
			rounding.DownText(r.LowerEpsilon, 4), rounding.UpText(*r.ClaimedEpsilon, 4)))
	}
	return failures
}

// UnfitError says why export, run and coins are not of one training, or one that is not audited.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return e.Why }

func unfit(format string, args ...any) error { return &UnfitError{fmt.Sprintf(format, args...)} }

var errAlike = unfit("all coins are alike: make more canaries")

// Audit compares a run with the export it was made by. The coins and the run must be of this export and the same
// node; of what an attacker received (Run.Attacker), the coins are of another node, which it attacks.
func Audit(ctx context.Context, e *export.Export, r *Run, c *Coins, o Options) (*Result, error) {
	o.Confidence = cmp.Or(o.Confidence, 0.95)
	o.FalseAlarm = cmp.Or(o.FalseAlarm, 0.001)
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if err := fit(e, r, c); err != nil {
		return nil, err
	}
	sent, err := r.Sent()
	if err != nil {
		return nil, err
	}
	if len(sent) < 2 {
		return nil, unfit("fewer than two messages left: there is nothing to audit")
	}
	var seen *observed
	if r.Attacker() {
		seen, err = view(ctx, e, r, c.Node)
	} else {
		seen, err = messages(e, r, sent)
	}
	if err != nil {
		return nil, err
	}
	look := patternsOf(seen, c, sent)
	gram, err := seen.Gram(ctx, c, look, func(done int) { o.Progress(done, 2*r.Dim) })
	if err != nil {
		return nil, err
	}
	rows, rest := mat.NewSymDense(seen.rows, nil), look.rest(gram)
	rows.CopySym(gram.SliceSym(0, seen.rows))
	white := whitened(seen.whitening, rows, float64(r.Dim))
	all, err := energyOf(white, r.Dim)
	if err != nil {
		return nil, err
	}
	left, err := energyOf(whitened(seen.whitening, rest, float64(r.Dim)), r.Dim)
	if err != nil {
		return nil, err
	}
	scoring, weights := look.weights(seen, all.root, left.root)
	scores, sums, sizes, err := seen.Project(ctx, c, look, scoring, weights,
		func(done int) { o.Progress(r.Dim+done, 2*r.Dim) })
	if err != nil {
		return nil, err
	}
	return judge(e.Manifest, r, c, &evidence{seen, sent, white, left.noise, look, scores, sums, sizes}, o)
}

// evidence is what was computed of a run.
type evidence struct {
	*observed
	sent   []int         // steps whose message left
	white  *mat.SymDense // YYᵀ/d of the whitened rows Y
	noise  float64       // its variance
	look   *canary
	scores []float64
	sums   [][]projection // sums over the steps in which canaries are to take part, and over the others, by part
	sizes  []int          // parameters of each part
}

// maxRows bounds the messages of an audit: it takes time by the third power of them.
const maxRows = 4096

// fit refuses what is not of one training.
func fit(e *export.Export, r *Run, c *Coins) error {
	digest, err := files.SHA256(filepath.Join(e.Dir, export.ManifestName))
	switch {
	case err != nil:
		return err
	case r.Export != digest:
		return unfit("the run is of export %.12q…, and this is %.12s…", r.Export, digest)
	case c.Export != digest:
		return unfit("the coins are of export %.12q…, and this is %.12s…", c.Export, digest)
	case c.Dim != r.Dim:
		return unfit("the coins are for %d parameters, and the run has %d", c.Dim, r.Dim)
	case !r.Attacker() && c.Node != r.Node:
		return unfit("the coins are of node %q, the run of node %q", c.Node, r.Node)
	case r.Attacker() && c.Node == r.Node:
		return unfit("node %q attacks itself: the coins are of its own records", c.Node)
	case r.Steps != e.Manifest.Steps:
		return unfit("the run has %d steps, and the export %d", r.Steps, e.Manifest.Steps)
	case e.Manifest.Privacy == nil:
		return unfit("the export has no noise level: there is nothing to compare a run with")
	case c.Replaced && e.Manifest.Privacy.Adjacency != accounting.ReplaceOne.String():
		return unfit("the coins replace records, and the export is for records that are there or not")
	case c.Clip > e.Manifest.Privacy.Clip: // which is the largest of all nodes
		return unfit("the coins are for clip %v, and the noise of the export for at most %v", c.Clip,
			e.Manifest.Privacy.Clip)
	}
	for i, steps := range c.Steps {
		if n := len(steps); n > 0 && steps[n-1] >= r.Steps {
			return unfit("canary %d takes part in step %d of %d", i, steps[n-1], r.Steps)
		}
	}
	return nil
}

// noiseOf returns C⁻¹ of a node and the deviation of its noise.
func noiseOf(e *export.Export, node string) (inverse *mat.Dense, deviation float64, err error) {
	m := e.Manifest
	labels, err := e.NodeLabels()
	if err != nil {
		return nil, 0, err
	}
	at := 0
	if labels != nil { // without a network, or with several, as for a centralized training, there are no names
		if at = slices.Index(labels, node); at < 0 {
			return nil, 0, unfit("the run is of node %q, which the export does not have", node)
		}
	}
	if m.Steps > maxRows {
		return nil, 0, unfit("T = %d: runs of up to %d steps are audited", m.Steps, maxRows)
	}
	deviation = levelOf(m, node).NoiseStd
	if e.Shared != nil { // own noise and the parts that neighbours know are independent of each other
		own := e.Shared.Own[at]
		sum := own * own
		for _, n := range e.Shared.Neighbours(at) {
			sum += n.Weight * n.Weight
		}
		deviation *= math.Sqrt(sum)
	}
	layer, err := e.Node(at)
	if err == nil && layer.C == nil { // a class that is made again from its parameters
		var s strategy.Strategy
		if s, err = e.NodeStrategy(at); err == nil {
			var lower mat.TriDense
			err = s.NoisingTo(&lower)
			layer.Inverse = mat.DenseCopyOf(&lower)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return layer.Inverse, deviation, nil
}

// messages returns what everybody sees of a node: its sums with their noise, in the steps whose message left.
func messages(e *export.Export, r *Run, sent []int) (*observed, error) {
	inverse, deviation, err := noiseOf(e, r.Node)
	if err != nil {
		return nil, err
	}
	carried := mat.NewDense(len(sent), r.Steps, nil) // rows of C⁻¹, those of missed steps in the next
	from := 0
	at := map[int]int{}
	for i, t := range sent {
		at[t] = i
		row := carried.RawRowView(i)
		for ; from <= t; from++ {
			for s := range from + 1 {
				row[s] += inverse.At(from, s)
			}
		}
	}
	carried.Scale(deviation, carried)
	var covariance mat.SymDense
	covariance.SymOuterK(1, carried)
	whitening, err := inverseRoot(&covariance)
	if err != nil {
		return nil, err
	}
	return &observed{
		rows: len(sent), whitening: whitening, layers: r.Layers, dim: r.Dim,
		read: func(dst []float32, from, width int) error { return r.gradients(dst, sent, from, width) },
		design: func(row []float64, taken []int) {
			for _, t := range taken {
				if i, ok := at[t]; ok {
					row[i]++
				}
			}
		},
	}, nil
}

// inverseRoot returns L⁻¹, where LLᵀ is the covariance.
func inverseRoot(covariance *mat.SymDense) (*mat.Dense, error) {
	var root mat.Cholesky
	if !root.Factorize(covariance) {
		return nil, errors.New("the noise of the messages has no positive covariance")
	}
	var lower, inverse mat.TriDense
	root.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(&inverse), nil
}

// multiply returns a·b.
func multiply(a, b mat.Matrix) *mat.Dense {
	var p mat.Dense
	p.Mul(a, b)
	return &p
}

// canary is how canaries look in rows. Those that take part in the same steps have one pattern, a column each.
type canary struct {
	pattern []int      // pattern of each canary
	took    []float64  // what each contributes
	times   []float64  // Σ took² of each pattern
	design  *mat.Dense // F: what a canary of the pattern adds to the rows O
	others  *mat.Dense // likewise, in the steps in which it is not to take part
	mu      []float64  // ‖f_i‖ of each canary
}

func patternsOf(o *observed, c *Coins, sent []int) *canary {
	found := &canary{took: c.contributions()}
	number := map[string]int{}
	var patterns [][]int
	for i, taken := range c.Steps {
		key := fmt.Sprint(taken)
		if _, known := number[key]; !known {
			number[key] = len(patterns)
			patterns = append(patterns, taken)
			found.times = append(found.times, 0)
		}
		found.pattern = append(found.pattern, number[key])
		found.times[number[key]] += found.took[i] * found.took[i]
	}
	in, out := mat.NewDense(len(patterns), o.rows, nil), mat.NewDense(len(patterns), o.rows, nil)
	for p, taken := range patterns {
		o.design(in.RawRowView(p), taken)
		o.design(out.RawRowView(p), slices.DeleteFunc(slices.Clone(sent), func(t int) bool {
			_, there := slices.BinarySearch(taken, t)
			return there
		}))
	}
	in.Scale(c.Clip, in)
	found.design, found.others = mat.DenseCopyOf(in.T()), mat.DenseCopyOf(out.T())
	f := multiply(o.whitening, found.design)
	for _, p := range found.pattern {
		found.mu = append(found.mu, mat.Norm(f.ColView(p), 2))
	}
	return found
}

// rest returns EEᵀ, of the Gram matrix of O and V.
func (c *canary) rest(gram *mat.SymDense) *mat.SymDense {
	rows, patterns := c.design.Dims()
	minus := mat.NewDense(rows, rows+patterns, nil) // E = (I, -F) Z
	for i := range rows {
		minus.Set(i, i, 1)
		for p := range patterns {
			minus.Set(i, rows+p, -c.design.At(i, p))
		}
	}
	return whitened(minus, gram, 1)
}

// weights returns the weights of rows (patterns×rows): those of scores of signs, which have norm √d, by the root R of
// all energy; and by the root of what is left beside canaries, those of the canaries' own shape R²f, and of what the
// other steps have beside it.
func (c *canary) weights(o *observed, all, left *mat.Dense) (scoring *mat.Dense, sums []*mat.Dense) {
	back := func(root, shape *mat.Dense) *mat.Dense { return multiply(multiply(shape.T(), root), o.whitening) }
	shape := func(root, of *mat.Dense) *mat.Dense { return multiply(multiply(root, o.whitening), of) }
	best, own, other := shape(all, c.design), shape(left, c.design), shape(left, c.others)
	for p := range c.times {
		normalize(best, p)
		var along float64
		if norm := mat.Norm(own.ColView(p), 2); norm > 0 {
			along = mat.Dot(own.ColView(p), other.ColView(p)) / norm / norm
		}
		for t := range o.rows {
			other.Set(t, p, other.At(t, p)-along*own.At(t, p))
		}
		normalize(other, p)
	}
	scoring = back(all, best)
	scoring.Scale(1/math.Sqrt(float64(o.dim)), scoring)
	return scoring, []*mat.Dense{back(left, own), back(left, other)}
}

// normalize gives a column norm 1; a column of zeros stays.
func normalize(m *mat.Dense, column int) {
	norm := mat.Norm(m.ColView(column), 2)
	for t := 0; norm > 0 && t < m.RawMatrix().Rows; t++ {
		m.Set(t, column, m.At(t, column)/norm)
	}
}

// limit returns z with Pr[|N(0,1)| > z] = alpha.
func limit(alpha float64) float64 { return distuv.UnitNormal.Quantile(1 - alpha/2) }

// judge says what the evidence means.
func judge(m *export.Manifest, r *Run, c *Coins, e *evidence, options Options) (*Result, error) {
	count, in, look := len(c.Steps), c.Included(), e.look
	res := &Result{Node: c.Node, Canaries: count, Missed: r.Steps - len(e.sent), Confidence: options.Confidence,
		Replaced: c.Replaced, Scores: e.scores, Coins: in, Gradients: r.Gradients, Included: c.count()}
	if slices.Min(look.took) == slices.Max(look.took) {
		return nil, errAlike
	}
	if floats.Sum(look.mu) == 0 {
		return nil, unfit("nothing of the canaries of node %q is in the messages: they take part in none of their steps",
			c.Node)
	}
	arrived, wrong := total(e.sums[0]).arrival()
	spread := math.Sqrt(e.noise)
	if !(spread > 1e-3) { // NaN, too: of rounding
		return nil, ErrNoNoise
	}
	level := levelOf(m, c.Node)
	largest := floats.Max(look.mu)
	if c.Replaced {
		largest *= 2
	}
	claim := res.claim(m, r, level, c.Clip, largest)
	res.Mu = arrived * claim / spread
	res.MuError = wrong * claim / spread
	res.LowerMu = family(gaussian).lower(e.scores, in, 1-options.Confidence)
	if err := res.inEpsilon(m, level, options.Delta); err != nil {
		return nil, err
	}
	if !r.Attacker() { // in the view of an attacker hidden nodes answer to what they hear, as they should
		each := options.FalseAlarm / 5
		res.Faults = []Fault{
			signsFault("contribution", fmt.Sprintf("a canary moved the sums by %.3f ± %.3f of the clip, in the steps in which it is "+
				"to take part", arrived, wrong), total(e.sums[0]), each),
			signsFault("participation", "canaries in steps in which they are not to take part", total(e.sums[1]), each),
			partly(e.sums[0], e.sizes, each),
		}
		res.Faults = append(res.Faults, noiseFaults(r, c, e.whitening, e.white, each)...)
	}
	res.Passed = len(res.Failures()) == 0
	return res, nil
}

// claim says what the estimate of μ is to be compared with, and returns what it is if all of the canaries, of
// gradients of norm clip, arrived. largest is the most that the rows tell of a canary's coin.
func (r *Result) claim(m *export.Manifest, run *Run, level *export.Privacy, clip, largest float64) float64 {
	switch {
	case run.Attacker():
		r.Attacker, r.LinearMu = run.Node, &largest
	case m.Space != nil:
		r.AloneMu = &largest // a reader of all messages sees more
	case level.Mu > 0: // 0: no μ describes secret batches
		r.ClaimedMu = &level.Mu
		return level.Mu * min(1, clip/level.Clip)
	}
	return largest
}

// levelOf returns the level of a node's records: its own, or the one that all have.
func levelOf(m *export.Manifest, node string) *export.Privacy {
	for i, l := range m.Budgets {
		if l.Node == node {
			return m.PrivacyOf(i)
		}
	}
	return m.Privacy
}

// total adds up parts of the model.
func total(parts []projection) (sum projection) {
	for _, p := range parts {
		sum.add(p)
	}
	return sum
}

// inEpsilon says what LowerMu is, and what was claimed.
func (r *Result) inEpsilon(m *export.Manifest, p *export.Privacy, delta float64) (err error) {
	if delta == 0 && p.Delta != nil {
		delta = *p.Delta
	}
	delta = cmp.Or(delta, 1e-5)
	r.Delta = delta
	if r.LowerMu > 0 {
		if r.LowerEpsilon, err = accounting.Epsilon(r.LowerMu, delta); err != nil {
			return err
		}
	}
	switch {
	case m.Sampled(): // it counts on draws that are secret, and the coins say who takes part when
	case p.Epsilon != nil && p.Delta != nil && *p.Delta == delta:
		r.ClaimedEpsilon = p.Epsilon
	case p.Mu > 0:
		claimed, err := accounting.Epsilon(p.Mu, delta)
		if err != nil {
			return err
		}
		r.ClaimedEpsilon = &claimed
	}
	return nil
}

// arrival returns how much of the canaries' contributions arrived, 1 for all, with its standard error.
func (p projection) arrival() (arrived, wrong float64) {
	return 1 + p.sum/p.template, math.Sqrt(p.variance) / p.template
}

// deviations returns how many standard deviations the sum is away from 0, its mean.
func (p projection) deviations() float64 {
	if p.sum == 0 {
		return 0
	}
	return math.Abs(p.sum) / math.Sqrt(p.variance)
}

// hoeffding returns z with Pr[|S| ≥ z·deviation of S] ≤ alpha for every sum S of independent signs with weights.
func hoeffding(alpha float64) float64 { return math.Sqrt(2 * math.Log(2/alpha)) }

// whitened returns LGLᵀ/scale: of L⁻¹ and OOᵀ, YYᵀ/d, of which the noise is about the identity.
func whitened(whitening *mat.Dense, gram *mat.SymDense, scale float64) *mat.SymDense {
	full := multiply(multiply(whitening, mat.DenseCopyOf(gram)), whitening.T()) // products of symmetric matrices are slow
	mean := func(i, j int) float64 { return (full.At(i, j) + full.At(j, i)) / 2 / scale }
	return dense.NewSym(whitening.RawMatrix().Rows, mean)
}

// energy is the covariance of whitened rows over the parameters: of the noise the identity, and what gradients add.
type energy struct {
	noise float64    // its variance, if gradients add to less than half of all directions
	root  *mat.Dense // the inverse root, where the noise has at least variance 1
}

// energyOf returns the energy of rows y = YYᵀ/d. Scores are weighed by it, so that gradients which stay for many
// steps, and are loud where the noise is correlated, disturb them as little as can be.
func energyOf(y *mat.SymDense, dim int) (energy, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(y, true) {
		return energy{}, ErrNoNoise // or NaN
	}
	values := eigen.Values(nil)
	var vectors, scaled mat.Dense
	eigen.VectorsTo(&vectors)
	scaled.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(math.Max(1, values[j])) }, &vectors)
	n := min(len(values), dim) // that are not 0
	return energy{noise: values[len(values)-n+n/2] / medianEigenvalue(len(values), dim),
		root: multiply(&scaled, vectors.T())}, nil
}

// medianEigenvalue returns the median of the eigenvalues above 0 of YYᵀ/d for rows of independent numbers of variance 1,
// after Marchenko and Pastur: x = (1 + c + 2√c·cos φ)·max(1, rows/d), with density 2 sin²φ/(π(1 + c + 2√c·cos φ)).
func medianEigenvalue(rows, dim int) float64 {
	c := float64(min(rows, dim)) / float64(max(rows, dim))
	const points = 1 << 12
	x, sum := 0.0, 0.0
	for i := 0; sum < 0.5; i++ {
		sin, cos := math.Sincos((float64(i) + 0.5) * math.Pi / points)
		x = 1 + c + 2*math.Sqrt(c)*cos
		sum += 2 * sin * sin / x / points
	}
	return x * math.Max(1, float64(rows)/float64(dim))
}

// The three faults below look at E, what is left of the messages if all canaries arrived as planned. In an honest run
// it is noise and gradients of others, and the signs of directions are independent of it: given E, S = ⟨V, QE⟩ is a sum
// of independent signs, whatever Q was computed of E, with mean 0 and the variance Σ_i x_i²‖(QE)_i‖²/d, so that
// Hoeffding's inequality bounds false alarms in models of every size. (With whitening by YYᵀ, which has the canaries,
// S took a share of their energy away, and the products c_i·c_j of two canaries counted for one.)

// signsFault is the fault of a sum of signs that is too far from 0.
func signsFault(name, says string, p projection, alpha float64) Fault {
	f := Fault{Name: name, Statistic: p.deviations(), Limit: hoeffding(alpha), Says: says}
	f.Alarm = !(f.Statistic <= f.Limit)
	return f
}

// partly compares how much of the canaries arrived in every part of the model.
func partly(parts []projection, sizes []int, alpha float64) Fault {
	worst, at := parts[0], 0
	for i, part := range parts {
		if !(part.deviations() <= worst.deviations()) {
			worst, at = part, i
		}
	}
	arrived, wrong := worst.arrival()
	return signsFault("clipping", fmt.Sprintf("part %d of %d of the model (%d parameters) has %.3f ± %.3f of the canaries",
		at+1, len(sizes), sizes[at], arrived, wrong), worst, alpha/float64(len(sizes)))
}

// meanSquare returns the p-quantile of χ²/d with d degrees of freedom; normal where the quantiles of the library end.
func meanSquare(d, p float64) float64 {
	if d > 1e6 {
		return 1 + distuv.UnitNormal.Quantile(p)*math.Sqrt(2/d)
	}
	return distuv.ChiSquared{K: d}.Quantile(p) / d
}

// noiseFaults looks at the scale of the noise, and at what rows have in common. Gradients add energy, which is
// bounded by what a batch can have; beyond that it is noise. Given earlier rows, d times the energy of row t is a
// noncentral χ² of d degrees of freedom: not below a central one, and with an energy g of gradients at most
// χ²/d + g + 2z√(g/d), z of a normal number.
func noiseFaults(r *Run, c *Coins, whitening *mat.Dense, y *mat.SymDense, alpha float64) []Fault {
	steps, d := y.SymmetricDim(), float64(r.Dim)
	each := alpha / float64(steps) / 3
	zScale, zPair := limit(alpha/float64(steps)), limit(alpha/(float64(steps*(steps-1)/2)))
	slack, least, largest := zScale*math.Sqrt(2/d), meanSquare(d, each), meanSquare(d, 1-each)
	gradients := make([]float64, steps) // energy of row t that gradients may have
	low, high := Fault{Name: "scale", Limit: least, Statistic: math.Inf(1)}, Fault{}
	for t := range steps {
		sum := 0.0
		for s := range steps {
			sum += math.Abs(whitening.At(t, s))
		}
		batch := r.Size + 1 + 6*math.Sqrt(r.Size)
		most := math.Pow(sum*c.Clip*batch, 2) / d
		v := y.At(t, t)
		low.Statistic = math.Min(low.Statistic, v)
		if excess := v - (largest + most + 2*limit(2*each)*math.Sqrt(most/d)); excess > high.Statistic {
			high.Statistic = excess
		}
		gradients[t] = math.Min(most, math.Max(0, v-1)+slack)
	}
	mean := 0.0
	for t := range steps {
		mean += y.At(t, t) / float64(steps)
	}
	low.Alarm = !(low.Statistic >= low.Limit) || high.Statistic > 0
	low.Says = fmt.Sprintf("whitened rows have %.4f times the energy of the plan's noise, the least %.4f", mean,
		low.Statistic)
	pair := Fault{Name: "correlation", Says: "whitened rows have nothing in common"}
	worst := math.Inf(-1)
	for t := range steps {
		for s := range t {
			bound := math.Sqrt(gradients[t]*gradients[s]) + zPair*math.Sqrt(y.At(t, t)*y.At(s, s)/d)
			if excess := math.Abs(y.At(t, s)) - bound; excess > worst {
				worst, pair.Statistic, pair.Limit = excess, math.Abs(y.At(t, s)), bound
				if excess > 0 {
					pair.Says = fmt.Sprintf("the whitened rows of messages %d and %d have %.4f in common", s, t, y.At(t, s))
				}
			}
		}
	}
	pair.Alarm = !(worst <= 0)
	return []Fault{low, pair}
}
