package canaries

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/internal/files"
	"mafalda/internal/rounding"
)

// ErrNoNoise is returned for messages that have a thousandth of the noise that the plan says, or none.
var ErrNoNoise = errors.New("the messages have no noise: they give everything away")

// Options tunes Audit. The zero value asks for the defaults named here.
type Options struct {
	Unused     int     // directions that nobody used; 0 means 2000
	Confidence float64 // of the lower bound of ε; 0 means 0.95
	FalseAlarm float64 // probability that an honest run has any alarm; 0 means 0.001
	Delta      float64 // 0 means the export's
	Progress   func(done, all int)
}

// Fault is a statistic that says whether something people get wrong went wrong.
type Fault struct {
	Name      string  `json:"name"`
	Alarm     bool    `json:"alarm"`
	Statistic float64 `json:"statistic"`
	Limit     float64 `json:"limit"` // beyond it there is an alarm
	Says      string  `json:"says"`
}

// Result is what the audit of a run found.
type Result struct {
	Node     string `json:"node"`
	Canaries int    `json:"canaries"`
	Included int    `json:"included"` // by their coins
	Missed   int    `json:"missed"`   // steps without a message

	Mu         float64  `json:"mu"`       // estimate
	MuError    float64  `json:"mu_error"` // its standard error
	ClaimedMu  *float64 `json:"claimed_mu,omitempty"`
	LowerMu    float64  `json:"lower_mu"` // no μ below it is true, with confidence
	Confidence float64  `json:"confidence"`
	// LowerEpsilon is what LowerMu is at Delta, and ClaimedEpsilon the plan's, absent where batches are drawn in
	// secret: the plan then counts on draws that nobody knows, and the coins say them.
	LowerEpsilon   float64  `json:"lower_epsilon"`
	Delta          float64  `json:"delta"`
	ClaimedEpsilon *float64 `json:"claimed_epsilon,omitempty"`

	Faults []Fault `json:"faults"`
	Passed bool    `json:"passed"`

	// Scores are of the canaries, for other auditors: N(μ_i, 1), or of those with the coin false N(0, 1).
	Scores []float64 `json:"scores"`
	Coins  []bool    `json:"coins"`
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

// Audit compares a run with the export it was made by. The coins and the run must be of this export and the same node.
func Audit(ctx context.Context, e *export.Export, r *Run, c *Coins, o Options) (*Result, error) {
	if o.Unused == 0 {
		o.Unused = 2000
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.FalseAlarm == 0 {
		o.FalseAlarm = 0.001
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
	whitening, err := whitener(e, r.Node, sent, r.Steps)
	if err != nil {
		return nil, err
	}
	sums, err := Project(ctx, r, c, sent, o.Unused, o.Progress)
	if err != nil {
		return nil, err
	}
	level, err := levelOf(e, r.Node)
	if err != nil {
		return nil, err
	}
	return judge(e.Manifest.Sampled(), level, r, c, sent, whitening, sums, o)
}

// levelOf returns the privacy level of a node: its own, where nodes have budgets.
func levelOf(e *export.Export, node string) (*export.Privacy, error) {
	if e.Manifest.Budgets == nil {
		return e.Manifest.Privacy, nil
	}
	i := slices.IndexFunc(e.Manifest.Budgets, func(l export.NodeLevel) bool { return l.Node == node })
	if i < 0 {
		return nil, unfit("the run is of node %q, which the export has not", node)
	}
	return e.Manifest.PrivacyOf(i), nil
}

// fit refuses what is not of one training.
func fit(e *export.Export, r *Run, c *Coins) error {
	digest, err := files.SHA256(filepath.Join(e.Dir, export.ManifestName))
	p := e.Manifest.Privacy
	switch {
	case err != nil:
		return err
	case r.Export != digest:
		return unfit("the run is of export %.12s…, and this is %.12s…", r.Export, digest)
	case c.Export != digest:
		return unfit("the coins are of export %.12s…, and this is %.12s…", c.Export, digest)
	case c.Node != r.Node || c.Dim != r.Dim:
		return unfit("the coins are of node %q with %d parameters, the run of node %q with %d", c.Node, c.Dim, r.Node, r.Dim)
	case r.Steps != e.Manifest.Steps:
		return unfit("the run has %d steps, and the export %d", r.Steps, e.Manifest.Steps)
	case p == nil:
		return unfit("the export has no noise level: there is nothing to compare a run with")
	case e.Manifest.Space != nil:
		return unfit("the nodes of the export share noise: such runs are not audited yet")
	}
	for i, steps := range c.Steps {
		if n := len(steps); n > 0 && steps[n-1] >= r.Steps {
			return unfit("canary %d takes part in step %d of %d", i, steps[n-1], r.Steps)
		}
	}
	return nil
}

// whitener returns L⁻¹ of the steps that were sent: rows of missed steps are in the next message.
func whitener(e *export.Export, node string, sent []int, steps int) (*mat.Dense, error) {
	at := 0
	if e.Manifest.PerNode != nil {
		labels, err := e.NodeLabels()
		if err != nil {
			return nil, err
		}
		if at = slices.Index(labels, node); at < 0 {
			return nil, unfit("the run is of node %q, which the export does not have", node)
		}
	}
	layer, err := e.Node(at)
	if err != nil {
		return nil, err
	}
	if layer.C == nil {
		return nil, unfit("the export has no matrices: a run is audited with C.npy")
	}
	if len(sent) == steps {
		return layer.C, nil
	}
	carried := mat.NewDense(len(sent), steps, nil) // rows of C⁻¹, those of missed steps in the next
	from := 0
	for i, t := range sent {
		row := carried.RawRowView(i)
		for ; from <= t; from++ {
			for s := range row {
				row[s] += layer.Inverse.At(from, s)
			}
		}
	}
	var covariance mat.SymDense
	covariance.SymOuterK(1, carried)
	var root mat.Cholesky
	if !root.Factorize(&covariance) {
		return nil, errors.New("the noise of the messages has no positive covariance")
	}
	var lower mat.TriDense
	root.LTo(&lower)
	var inverse mat.TriDense
	if err := inverse.InverseTri(&lower); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(&inverse), nil
}

// canary is how canaries look in whitened messages, a column each.
type canary struct {
	shape *mat.Dense // f_i/μ_i
	mu    []float64  // μ_i
	other *mat.Dense // the steps in which it is not to take part, less their part along shape; 0 where there are none
}

func shapes(c *Coins, sent []int, whitening *mat.Dense, unit float64) canary {
	count, steps := len(c.Steps), len(sent)
	at := map[int]int{}
	for i, t := range sent {
		at[t] = i
	}
	in, out := mat.NewDense(steps, count, nil), mat.NewDense(steps, count, nil)
	for i, taken := range c.Steps {
		for t := range steps {
			out.Set(t, i, 1)
		}
		for _, t := range taken {
			if row, ok := at[t]; ok {
				in.Set(row, i, unit)
				out.Set(row, i, 0)
			}
		}
	}
	found := canary{shape: new(mat.Dense), mu: make([]float64, count), other: new(mat.Dense)}
	found.shape.Mul(whitening, in)
	found.other.Mul(whitening, out)
	for i := range count {
		found.mu[i] = normalize(found.shape, i)
		along := 0.0
		for t := range steps {
			along += found.shape.At(t, i) * found.other.At(t, i)
		}
		for t := range steps {
			found.other.Set(t, i, found.other.At(t, i)-along*found.shape.At(t, i))
		}
		normalize(found.other, i)
	}
	return found
}

// normalize gives a column norm 1, and returns the norm it had; a column of zeros stays.
func normalize(m *mat.Dense, column int) float64 {
	v := m.ColView(column)
	norm := mat.Norm(v, 2)
	if norm > 0 {
		for t := range v.Len() {
			m.Set(t, column, m.At(t, column)/norm)
		}
	}
	return norm
}

// scores returns ⟨shape_i, y_i⟩ for the columns y of whitened projections; those behind the canaries have the shapes of
// canaries in turn.
func scores(shape, y *mat.Dense) []float64 {
	steps, all := y.Dims()
	_, count := shape.Dims()
	s := make([]float64, all)
	for t := range steps {
		f, row := shape.RawRowView(t), y.RawRowView(t)
		for i := range s {
			s[i] += f[i%count] * row[i]
		}
	}
	return s
}

// limit returns z with Pr[|N(0,1)| > z] = alpha.
func limit(alpha float64) float64 { return distuv.UnitNormal.Quantile(1 - alpha/2) }

// judge says what the sums mean.
func judge(
	secret bool, level *export.Privacy, r *Run, c *Coins, sent []int, whitening *mat.Dense, sums *Sums, o Options,
) (*Result, error) {
	nu, d := level.NoiseStd, float64(r.Dim)
	count, in := len(c.Steps), c.Included()
	look := shapes(c, sent, whitening, c.Clip/nu)
	whole := new(mat.Dense)
	parts := make([]*mat.Dense, len(sums.Projections))
	for i, p := range sums.Projections {
		parts[i] = new(mat.Dense)
		parts[i].Mul(whitening, p)
		parts[i].Scale(1/(nu*math.Sqrt(d)), parts[i])
		if i == 0 {
			whole.CloneFrom(parts[i])
		} else {
			whole.Add(whole, parts[i])
		}
	}
	s := scores(look.shape, whole)
	res := &Result{Node: r.Node, Canaries: count, Missed: r.Steps - len(sent), Confidence: o.Confidence,
		Scores: s[:count], Coins: in}
	for _, yes := range in {
		if yes {
			res.Included++
		}
	}
	if res.Included == 0 || res.Included == count {
		return nil, unfit("all coins are alike: make more canaries")
	}
	arrived, wrong := arrival(s, look.mu, in, 1)
	rows := whitened(whitening, sums.Gram, nu*nu*d)
	spread := math.Sqrt(medianEigenvalue(rows))
	if !(spread > 1e-3) { // NaN, too: of rounding
		return nil, ErrNoNoise
	}
	claim := level.Mu
	if claim == 0 { // no μ describes secret batches: that of the canaries
		for _, mu := range look.mu {
			claim = math.Max(claim, mu)
		}
	} else {
		res.ClaimedMu = &claim
	}
	res.Mu = arrived * claim / spread
	res.MuError = wrong * claim / spread
	res.LowerMu = lowerMu(s[:count], in, 1-o.Confidence)
	if err := res.inEpsilon(secret, level, o.Delta); err != nil {
		return nil, err
	}
	each := o.FalseAlarm / 5
	res.Faults = []Fault{
		amplitude(arrived, wrong, each),
		elsewhere(scores(look.other, whole), in, each),
		partly(parts, sums.Sizes, look, in, count, each, r.Dim),
	}
	res.Faults = append(res.Faults, noiseFaults(r, c, whitening, rows, nu, each)...)
	res.Passed = res.ClaimedEpsilon == nil || res.LowerEpsilon <= *res.ClaimedEpsilon
	for _, f := range res.Faults {
		res.Passed = res.Passed && !f.Alarm
	}
	return res, nil
}

// inEpsilon says what LowerMu is, and what was claimed.
func (r *Result) inEpsilon(secret bool, p *export.Privacy, delta float64) (err error) {
	if delta == 0 && p.Delta != nil {
		delta = *p.Delta
	}
	if delta == 0 {
		delta = 1e-5
	}
	r.Delta = delta
	if r.LowerMu > 0 {
		if r.LowerEpsilon, err = accounting.Epsilon(r.LowerMu, delta); err != nil {
			return err
		}
	}
	switch {
	case secret: // it counts on draws that are secret, and the coins say who takes part when
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

// arrival returns how much of the canaries that take part arrived, 1 for all, with its standard error, in which share
// of the model.
func arrival(s, mu []float64, in []bool, share float64) (arrived, wrong float64) {
	sum, squares := 0.0, 0.0
	for i, yes := range in {
		if yes {
			sum += s[i] * mu[i]
			squares += mu[i] * mu[i]
		}
	}
	return sum / squares / share, spreadOf(s[len(in):]) / math.Sqrt(squares) / share
}

// spreadOf returns the deviation of numbers whose mean is 0.
func spreadOf(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(s)))
}

// whitened returns YYᵀ/d, of which the noise is about the identity.
func whitened(whitening *mat.Dense, gram *mat.SymDense, scale float64) *mat.SymDense {
	var half, full mat.Dense
	half.Mul(whitening, gram)
	full.Mul(&half, whitening.T())
	n := gram.SymmetricDim()
	y := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			y.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2/scale)
		}
	}
	return y
}

// medianEigenvalue is the variance of noise to which gradients add something in less than half of all directions.
func medianEigenvalue(y *mat.SymDense) float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(y, false) {
		return math.NaN()
	}
	values := eigen.Values(nil)
	return values[len(values)/2]
}

func amplitude(arrived, wrong, alpha float64) Fault {
	f := Fault{Name: "contribution", Statistic: math.Abs(arrived-1) / wrong, Limit: limit(alpha)}
	f.Alarm = !(f.Statistic <= f.Limit)
	f.Says = fmt.Sprintf("a canary moved the sums by %.3f ± %.3f of the clip, in the steps in which it is to take part",
		arrived, wrong)
	return f
}

func elsewhere(s []float64, in []bool, alpha float64) Fault {
	sum, n := 0.0, 0.0
	for i, yes := range in {
		if yes {
			sum += s[i]
			n++
		}
	}
	f := Fault{Name: "participation", Limit: limit(alpha), Says: "canaries in steps in which they are not to take part"}
	if spread := spreadOf(s[len(in):]); spread > 0 {
		f.Statistic = math.Abs(sum) / math.Sqrt(n) / spread
	}
	f.Alarm = !(f.Statistic <= f.Limit)
	return f
}

// partly compares how much of the canaries arrived in every part of the model.
func partly(parts []*mat.Dense, sizes []int, look canary, in []bool, count int, alpha float64, dim int) Fault {
	f := Fault{Name: "clipping", Limit: limit(alpha / float64(len(sizes)))}
	for i, part := range parts {
		arrived, wrong := arrival(scores(look.shape, part), look.mu, in, float64(sizes[i])/float64(dim))
		if z := math.Abs(arrived-1) / wrong; !(z <= f.Statistic) {
			f.Statistic = z
			f.Says = fmt.Sprintf("part %d of %d of the model (%d parameters) has %.3f ± %.3f of the canaries",
				i+1, len(sizes), sizes[i], arrived, wrong)
		}
	}
	f.Alarm = !(f.Statistic <= f.Limit)
	return f
}

// noiseFaults looks at the scale of the noise, and at what rows have in common. Gradients add energy, which is bounded
// by what a batch can have; beyond that it is noise.
func noiseFaults(r *Run, c *Coins, whitening *mat.Dense, y *mat.SymDense, nu, alpha float64) []Fault {
	steps, d := y.SymmetricDim(), float64(r.Dim)
	zScale, zPair := limit(alpha/float64(steps)), limit(alpha/(float64(steps*(steps-1)/2)))
	slack := zScale * math.Sqrt(2/d)
	gradients := make([]float64, steps) // energy of row t that gradients may have
	low, high := Fault{Name: "scale", Limit: 1 - slack, Statistic: math.Inf(1)}, Fault{}
	for t := range steps {
		sum := 0.0
		for s := range steps {
			sum += math.Abs(whitening.At(t, s))
		}
		batch := r.Size + 1 + 6*math.Sqrt(r.Size)
		most := math.Pow(sum*c.Clip*batch/nu, 2) / d
		v := y.At(t, t)
		low.Statistic = math.Min(low.Statistic, v)
		if excess := v - (1 + most + slack*(1+most)); excess > high.Statistic {
			high.Statistic = excess
		}
		gradients[t] = math.Min(most, math.Max(0, v-1)+slack)
	}
	mean := 0.0
	for t := range steps {
		mean += y.At(t, t) / float64(steps)
	}
	low.Alarm = !(low.Statistic >= low.Limit) || high.Statistic > 0
	low.Says = fmt.Sprintf("whitened rows have %.4f times the energy of the plan's noise, the least %.4f", mean, low.Statistic)
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
