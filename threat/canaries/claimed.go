package canaries

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/spent"
	"mafalda/internal/files"
	"mafalda/internal/lists"
)

// This file audits a Record: what a program without a plan released, against a description of what it is said to do.
//
// Notation. Release k is of round t and a sender; its noise is claimed to be σ_t N Z, N the claimed matrix or the
// identity, and independent of other senders'. Releases of a sender, one below the other, are whitened by the inverse
// root of that covariance, so that noise is independent with deviation 1:
//
//	Y_k  the whitened release, d numbers;  X_ki  what canary i put into it, whitened: clip, by its coin and draw
//	F_ki what it would have put into it with the coin 1, drawn in all rounds;  c_i its direction
//	E    Y - Xc: noise Z_k, and G_k, what others contribute: nothing where senders are canaries
//	D_tu d times the senders of both rounds t and u
//
// What is tested, and why an honest run fails with at most the probability α = (1 - confidence)/10 each. G_k may depend
// on all that was released before, not on Z_k.
//
//	clip         S = Σ_i⟨c_i, Σ_k X_ki E_k⟩ given E is a sum of independent signs, and Pr[S ≥ t·deviation] ≤ exp(-t²/2)
//	             (Hoeffding); others that answer to canaries answer against them
//	update       senders only: ΣwE, w the mean, and the difference of the means with coins 1 and 0, has ‖ΣwE‖² =
//	             s²‖w‖²χ²_d for noise of any scale s, and Σ‖E‖² = s²χ²_nd: quantiles of both at α/4
//	scale        ‖E_k‖² given all before is a noncentral χ²_d, and never below a central one (stochastically), nor is
//	             their sum below χ²_nd: the sum at α/2, the least of n at α/2n
//	freshness    likewise ‖E_k - E_l‖² given all before the later one: the least of all pairs at α/pairs
//	correlation  with H = E of all senders in a round. Given H_t, ⟨H_t,Z_u⟩ ~ ‖H_t‖·N(0,1) for u later. Where senders
//	             are canaries ‖H_u‖ = s‖Z_u‖: |⟨H_t,H_u⟩| ≤ ‖H_t‖‖H_u‖z/√(Dq), z of N at α/4·pairs two-sided, q the
//	             quantile of χ²_D/D at α/2·pairs. Else |⟨H_t,G_u⟩| ≤ ‖H_t‖‖G_u‖, and ‖G_u‖ is at most z + √(z² + ‖H_u‖²
//	             - qD), all at α/3·pairs
//	recipients   nothing is random: rows of one sender and round that differ have noise of their own
//	ε            half of 1 - confidence: (bound.go) of canaries of one sender each the number of right guesses is
//	             binomial; else the bound for one run. As of μ-GDP where that is claimed, else as of (ε, δ)-DP
type claimed struct {
	*Record
	run              *spent.Run
	account          *spent.Account
	senders          bool  // are canaries
	gaussian, secret bool  // noise, and draws
	fresh            []int // recipients with noise of their own in every round
	whitening, x, f  *mat.Dense

	energy           *mat.SymDense // ⟨E_k, E_l⟩
	clip             projection
	scores, strength []float64 // ⟨F_i, Yc_i⟩/‖F_i‖, ‖F_i‖
}

// AuditRecord compares what a program released with the description of what it is said to do. Options.Epsilon is the ε
// that is claimed for all rounds; 0 stands for the description's.
func AuditRecord(ctx context.Context, r *Record, run *spent.Run, o Options) (*Result, error) {
	c := &claimed{Record: r, run: run, senders: r.kept[0].sender >= 0}
	if err := c.fit(); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if err := c.look(ctx, o.Progress); err != nil {
		return nil, err
	}
	return c.judge(cmp.Or(o.Confidence, 0.95), o.Epsilon)
}

// checkMatrix refuses a matrix of the description that changed since the record began.
func (c *claimed) checkMatrix(path string) error {
	sealed, file := c.Matrices[path], path
	if sealed == "" {
		return nil
	}
	if of, err := os.Stat(path); err == nil && of.IsDir() {
		file = filepath.Join(path, "manifest.json")
	}
	digest, err := files.SHA256(file)
	if err == nil && digest != sealed {
		return unfit("%s is not what it was when the record began", file)
	}
	return err
}

// fit refuses what is not of the run that is described, and whitens.
func (c *claimed) fit() (err error) {
	if c.account, err = c.run.Account(); err != nil {
		return err
	}
	var sigma []float64 // of every round
	c.gaussian = true
	for i, p := range c.run.Phases {
		c.gaussian = c.gaussian && c.account.Phases[i].Multiplier > 0
		c.secret = c.secret || p.Probability > 0 && p.Probability < 1
		switch {
		case p.Mechanism == "svt":
			return unfit("what a sparse vector (svt) releases is not audited")
		case p.Clip > 0 && math.Abs(p.Clip/c.coins.Clip-1) > 1e-6:
			return unfit("the canaries are clipped to %v, and the description says %v", c.coins.Clip, p.Clip)
		}
		if err := c.checkMatrix(p.Matrix); err != nil {
			return err
		}
		sigma = append(sigma, slices.Repeat([]float64{p.Std(c.run.Delta) * c.coins.Clip}, p.Rounds)...)
		c.fresh = append(c.fresh, slices.Repeat([]int{max(p.Recipients, 1)}, p.Rounds)...)
	}
	if len(sigma) != len(c.Rounds) {
		return unfit("the description has %d rounds, and %d are recorded", len(sigma), len(c.Rounds))
	}
	switch claim, err := c.run.Noising(); {
	case err != nil:
		return err
	case claim != nil && c.correlated && !mat.EqualApprox(claim, c.noising, 1e-9*mat.Norm(claim, math.Inf(1))):
		return unfit("%s is not the inverse of the description's matrix: the description alone says enough",
			noisingName)
	case claim != nil:
		c.noising, c.correlated = claim, false
	}
	n, took := len(c.kept), c.coins.contributions()
	x, f, covariance := mat.NewDense(n, len(took), nil), mat.NewDense(n, len(took), nil), mat.NewSymDense(n, nil)
	rounds := multiply(c.noising, c.noising.T()) // of the noise, but for its scale
	std := func(of release) float64 {            // of the mean of its rows
		return sigma[of.round] / math.Sqrt(float64(min(c.fresh[of.round], len(of.rows))))
	}
	for k, of := range c.kept {
		for l, other := range c.kept[:k+1] {
			if of.sender == other.sender {
				covariance.SetSym(k, l, std(of)*std(other)*rounds.At(of.round, other.round))
			}
		}
		drawn := c.Rounds[of.round].Drawn
		for i := range took {
			if of.sender >= 0 && i != of.sender {
				continue
			}
			f.Set(k, i, c.coins.Clip)
			if drawn == nil || slices.Contains(drawn, i) {
				x.Set(k, i, took[i]*c.coins.Clip)
			}
		}
	}
	switch {
	case c.coins.Replaced:
		return unfit("canaries of a record without a plan are replaced by nothing")
	case slices.Min(took) == slices.Max(took):
		return errAlike
	case mat.Max(x) == 0:
		return unfit("no canary took part: none was drawn in any round")
	}
	if c.whitening, err = inverseRoot(covariance); err != nil {
		return unfit("%s: %v", noisingName, err)
	}
	c.x, c.f = multiply(c.whitening, x), multiply(c.whitening, f)
	return nil
}

// look computes what there is to know of the numbers, of the Gram matrix of releases and directions.
func (c *claimed) look(ctx context.Context, progress func(done, all int)) error {
	n, m := c.x.Dims()
	d, ones := c.coins.Dim, slices.Repeat([]float64{1}, m)
	gram, err := (&observed{rows: n, dim: d, read: c.read}).Gram(ctx, c.coins,
		&canary{pattern: lists.UpTo(m), took: ones, times: ones},
		func(done int) { progress(done, d) })
	if err != nil {
		return err
	}
	rest := mat.NewDense(n, n+m, nil) // E is it times both
	rest.Augment(c.whitening, c.x)
	left := rest.Slice(0, n, n, n+m).(*mat.Dense)
	left.Scale(-1, left)
	c.energy = whitened(rest, gram, 1)
	along := multiply(rest, mat.DenseCopyOf(gram)).Slice(0, n, n, n+m).(*mat.Dense) // E along directions
	own := multiply(c.x, mat.DenseCopyOf(gram.SliceSym(n, n+m)))                    // Xc along them
	moved := multiply(mat.DenseCopyOf(c.energy), c.x)                               // EEᵀX
	for i := range m {
		x, f := c.x.ColView(i), c.f.ColView(i)
		c.clip.add(projection{mat.Dot(x, along.ColView(i)), mat.Dot(x, moved.ColView(i)) / float64(d),
			mat.Dot(x, own.ColView(i))})
		strength := mat.Norm(f, 2)
		// the score is 0 for senders without releases
		score := (mat.Dot(f, along.ColView(i)) + mat.Dot(f, own.ColView(i))) / math.Max(1e-100, strength)
		c.scores, c.strength = append(c.scores, score), append(c.strength, strength)
	}
	return nil
}

// judge says what the evidence means.
func (c *claimed) judge(confidence, total float64) (*Result, error) {
	n, m := c.x.Dims()
	whole := c.account.Rounds[len(c.account.Rounds)-1]
	r := &Result{Canaries: m, Included: c.coins.count(), Releases: n, Confidence: confidence,
		Delta: whole.Delta, Scores: c.scores, Coins: c.coins.Included(), Announced: c.account.Phases[0].Announced}
	alpha := (1 - confidence) / 10
	pooled := mat.Trace(c.energy) / float64(n) / float64(c.coins.Dim)
	if !(pooled > 1e-6) {
		return nil, ErrNoNoise
	}
	arrived, wrong := c.clip.arrival()
	says := fmt.Sprintf("canaries arrived with %.3f ± %.3f of the clip", arrived, wrong)
	c.clip.sum = math.Max(0, c.clip.sum)
	clip := signsFault("clip", says, c.clip, 2*alpha)
	if arrived+clip.Limit*wrong < 0.5 {
		return nil, unfit("%s: they say too little of the run", says)
	}
	r.Faults = append(r.Faults, clip, c.recipients())
	if c.senders && c.gaussian {
		r.Faults = append(r.Faults, c.update(pooled, alpha))
	}
	if c.gaussian {
		r.Faults = append(r.Faults, c.scale(pooled, alpha), c.freshness(pooled, alpha), c.correlation(alpha))
	}
	if c.gaussian && !c.secret {
		r.Mu = floats.Max(c.strength) / math.Sqrt(pooled)
		r.Mu, r.MuError = arrived*r.Mu, wrong*r.Mu
	}
	if err := c.bound(r, 5*alpha); err != nil {
		return nil, err
	}
	switch {
	case total > 0:
		r.ClaimedEpsilon = &total
	case !c.correlated: // beyond what the description says
		r.ClaimedEpsilon = &whole.Epsilon
	}
	r.Passed = len(r.Failures()) == 0
	return r, nil
}

// bound bounds what the scores prove.
func (c *claimed) bound(r *Result, alpha float64) (err error) {
	plain, of := c.gaussian && !c.secret, approximate(r.Delta)
	if plain {
		of = gaussian
	}
	var level float64
	if c.senders {
		right := 0
		for i, score := range c.scores {
			if (score > c.strength[i]/2) == r.Coins[i] {
				right++
			}
		}
		level = of.alone(len(c.scores), right, alpha)
	} else {
		level = of.lower(c.scores, r.Coins, alpha)
	}
	switch {
	case !plain:
		r.LowerEpsilon = level
	case level > 0:
		r.LowerMu = level
		r.LowerEpsilon, err = accounting.Epsilon(level, r.Delta)
	}
	return err
}

// recipients looks for more noise for the same data than is claimed.
func (c *claimed) recipients() Fault {
	f := Fault{Name: "recipients", Limit: 1, Says: "what one sender released in a round has one noise"}
	for _, of := range c.kept {
		if got, claim := len(of.rows), c.fresh[of.round]; got > claim && float64(got) > f.Statistic {
			f.Alarm, f.Limit = true, float64(claim)
			f.Says = fmt.Sprintf("the same data of round %d left with fresh noise %d times, not %d: "+
				"who has all sees 1/√%d of it", of.round, got, claim, got)
		}
		f.Statistic = math.Max(f.Statistic, float64(len(of.rows)))
	}
	return f
}

// update looks for what senders release beside canaries: of all of them, or of those alone that contribute.
func (c *claimed) update(pooled, alpha float64) Fault {
	n, _ := c.x.Dims()
	d, in := float64(c.coins.Dim), c.coins.Included()
	strength, with := 0., 0. // of a canary in a release; releases of those that contribute
	for k, of := range c.kept {
		strength += c.f.At(k, of.sender) / float64(n)
		if in[of.sender] {
			with++
		}
	}
	mean, difference := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for k, of := range c.kept {
		mean.SetVec(k, 1/float64(n))
		difference.SetVec(k, 1/(with-float64(n)))
		if in[of.sender] {
			difference.SetVec(k, 1/with)
		}
	}
	f := Fault{Name: "update", Limit: meanSquare(d, 1-alpha/4) / meanSquare(d*float64(n), alpha/4),
		Says: "releases have their canaries alone"}
	look := func(what string, w *mat.VecDense) {
		noise, found := d*pooled*mat.Dot(w, w), mat.Inner(w, c.energy, w)
		if f.Statistic = math.Max(f.Statistic, found/noise); f.Statistic == found/noise && !(f.Statistic <= f.Limit) {
			f.Alarm, f.Says = true,
				fmt.Sprintf("%s has %.2f times the clip beside its canary, as if weights were clipped and not updates",
					what, math.Sqrt(found-noise)/strength)
		}
	}
	look("every release", mean)
	look("a contribution", difference)
	return f
}

// scale compares the noise with what is claimed.
func (c *claimed) scale(pooled, alpha float64) Fault {
	n, _ := c.x.Dims()
	d, least := float64(c.coins.Dim), math.Inf(1)
	for k := range n {
		least = math.Min(least, c.energy.At(k, k)/d)
	}
	f := Fault{Name: "scale", Statistic: pooled, Limit: meanSquare(d*float64(n), alpha/2)}
	if limit := meanSquare(d, alpha/2/float64(n)); f.Statistic >= f.Limit && least < limit {
		f.Statistic, f.Limit = least, limit
	}
	f.Alarm = !(f.Statistic >= f.Limit)
	f.Says = fmt.Sprintf("there is at most %.3f of the claimed noise, in one release %.3f", math.Sqrt(pooled),
		math.Sqrt(least))
	return f
}

// rounded is more than products in single precision are wrong by.
const rounded = 1e-5

// freshness looks for noise that is used twice.
func (c *claimed) freshness(pooled, alpha float64) Fault {
	n, _ := c.x.Dims()
	f := Fault{Name: "freshness", Statistic: math.Inf(1), Says: "no noise is there twice"}
	if n < 2 {
		return f
	}
	d := float64(c.coins.Dim)
	f.Limit = meanSquare(d, alpha/float64(n*(n-1)/2)) * math.Min(1, pooled) // too little noise is another fault
	for k := range n {
		for l := range k {
			v := ((1+rounded)*(c.energy.At(k, k)+c.energy.At(l, l)) - 2*c.energy.At(k, l)) / d
			if v >= f.Statistic {
				continue
			}
			if f.Statistic = v; v < f.Limit {
				f.Alarm, f.Says = true, fmt.Sprintf("%s and %s have the same noise", c.kept[l], c.kept[k])
			}
		}
	}
	return f
}

// String names a release.
func (r release) String() string {
	if r.sender < 0 {
		return fmt.Sprintf("round %d", r.round)
	}
	return fmt.Sprintf("round %d of sender %d", r.round, r.sender)
}

// correlation looks for what the noise of two rounds has in common beside what is claimed.
func (c *claimed) correlation(alpha float64) Fault {
	rounds := len(c.Rounds)
	cross, own, shared := mat.NewDense(rounds, rounds, nil), mat.NewDense(rounds, rounds, nil),
		mat.NewDense(rounds, rounds, nil)
	for k, first := range c.kept {
		for l, other := range c.kept {
			if t, u := first.round, other.round; first.sender == other.sender {
				cross.Set(t, u, cross.At(t, u)+c.energy.At(k, l))
				own.Set(t, u, own.At(t, u)+c.energy.At(k, k))
				shared.Set(t, u, shared.At(t, u)+1)
			}
		}
	}
	f := Fault{Name: "correlation", Limit: 1, Says: "rounds have in common what is claimed"}
	each, worst := alpha/math.Max(1, float64(rounds*(rounds-1)/2)), 0.
	for u := range rounds {
		for t := range u {
			d := shared.At(t, u) * float64(c.coins.Dim)
			if d == 0 {
				continue
			}
			first, later := math.Sqrt(own.At(t, u)), math.Sqrt(own.At(u, t))
			var reach float64
			if c.senders {
				reach = later * limit(each/2) / math.Sqrt(d*meanSquare(d, each/2))
			} else {
				z := limit(each / 3)
				reach = 2*z + math.Sqrt(math.Max(0, z*z+later*later-d*meanSquare(d, each/3)))
			}
			found := math.Abs(cross.At(t, u))
			if !(found/reach/first > worst) {
				continue
			}
			worst = found / reach / first
			if f.Statistic, f.Limit = found/first/later, reach/later; worst > 1 {
				f.Alarm, f.Says = true,
					fmt.Sprintf("the noise of rounds %d and %d has a correlation of %.3f beside what is claimed", t, u,
						cross.At(t, u)/first/later)
			}
		}
	}
	return f
}
