package threat

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// sharedBy is MF-D-SGD with noise that nodes share.
func sharedBy(t rapid.TB, c strategy.Strategy, noise *secrets.Noise, claim *secrets.Attackers) Algorithm {
	labels := make([]string, len(noise.Own))
	for i := range labels {
		labels[i] = string(rune('a' + i))
	}
	a, err := MFDSGD(c).withShared(&export.Export{Shared: &export.SharedNoise{Labels: labels, Noise: noise},
		Manifest: &export.Manifest{WorkloadSpec: new(workload.Spec), Space: &export.Space{Coalitions: export.Coalitions{Size: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if claim != nil {
		a.space.claim = claim
	}
	return a
}

// leveled is the algorithm with a privacy level for every node, or as it is.
func leveled(t *rapid.T, a Algorithm, n int) Algorithm {
	if rapid.Bool().Draw(t, "levels") {
		a.levels = drawLevels(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "of"), 1)), n)
	}
	return a
}

func drawShared(t *rapid.T, n int) *secrets.Noise {
	noise := &secrets.Noise{}
	deviation := rapid.Float64Range(0.2, 2)
	for range n {
		noise.Own = append(noise.Own, deviation.Draw(t, "own"))
	}
	for u := range n {
		for v := u + 1; v < n; v++ {
			if rapid.Bool().Draw(t, "pair") {
				noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: secrets.Pair{U: u, V: v}, Deviation: deviation.Draw(t, "shared")})
			}
		}
	}
	return noise
}

// jointly is what attackers who see all messages learn, by the joint Gaussian of everything: messages and the sources of
// noise that the attackers know; conditioned on these; and M = A_uᵀ Σ⁺ A_u. Nothing of it is the program's.
func jointly(w *mat.Dense, c *mat.TriDense, noise *secrets.Noise, attackers []int, victim int) *mat.SymDense {
	n, _ := w.Dims()
	steps, _ := c.Dims()
	var inverse mat.Dense
	if err := inverse.Inverse(c); err != nil {
		panic(err)
	}
	sources := len(noise.Own) + len(noise.Pairs)
	gradients := mat.NewDense(steps*n, steps*n, nil) // of messages, by gradients
	noises := mat.NewDense(steps*n, steps*sources, nil)
	at := func(t, v int) int { return t*n + v }
	power := mat.NewDense(n, n, nil)
	for i := range n {
		power.Set(i, i, 1)
	}
	for lag := range steps { // message t has W^lag times what came in in step t - lag
		for t := lag; t < steps; t++ {
			for i := range n {
				for j := range n {
					x := power.At(i, j)
					gradients.Set(at(t, i), at(t-lag, j), x)
					for s := 0; s <= t-lag; s++ {
						add := func(source int, by float64) {
							k := s*sources + source
							noises.Set(at(t, i), k, noises.At(at(t, i), k)+x*inverse.At(t-lag, s)*by)
						}
						add(j, noise.Own[j])
						for e, p := range noise.Pairs {
							if p.U == j {
								add(n+e, p.Deviation)
							}
							if p.V == j {
								add(n+e, -p.Deviation)
							}
						}
					}
				}
			}
		}
		var next mat.Dense
		next.Mul(w, power)
		power = &next
	}
	for s := range steps { // what is known is a constant
		for source := range sources {
			known := source < n && slices.Contains(attackers, source)
			if source >= n {
				p := noise.Pairs[source-n]
				known = slices.Contains(attackers, p.U) || slices.Contains(attackers, p.V)
			}
			if known {
				for row := range steps * n {
					noises.Set(row, s*sources+source, 0)
				}
			}
		}
	}
	var covariance mat.Dense
	covariance.Mul(noises, noises.T())
	var svd mat.SVD
	if !svd.Factorize(&covariance, mat.SVDFull) {
		panic("no singular values")
	}
	moved := mat.NewDense(steps*n, steps, nil)
	for t := range steps {
		moved.SetCol(t, mat.Col(nil, at(t, victim), gradients))
	}
	var solved mat.Dense
	svd.SolveTo(&solved, moved, svd.Rank(1e-12))
	m := mat.NewSymDense(steps, nil)
	var product mat.Dense
	product.Mul(moved.T(), &solved)
	for i := range steps {
		for j := i; j < steps; j++ {
			m.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	return m
}

// What is learned from all messages is the joint Gaussian of all of them, given what the attackers know; and what the
// written-out protocol says.
func TestSharedAccountIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossipOf(t, 1, 4)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 3).Draw(t, "T")
		noise, c := drawShared(t, n), drawStrategy(t, steps)
		attackers := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "attackers")
		a := leveled(t, sharedBy(t, c, noise, nil), n)
		by := Attacker{Trust: SecLDP, Nodes: attackers}
		found, err := account(t, w, a, by, steps)
		if err != nil || len(found) != n-len(attackers) {
			t.Fatal(len(found), err)
		}
		view, err := Explicit(Scenario{w, a, by, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		var lower mat.TriDense
		c.StrategyTo(&lower)
		for v, e := range found {
			want := jointly(w.ToDense(), &lower, noise, attackers, v)
			want.ScaleSym(a.part(v)*a.part(v), want)
			size := 1 + mat.Max(want)
			if !mat.EqualApprox(e.M, want, 1e-7*size) {
				t.Fatalf("of %d %v, want %v", v, mat.Formatted(e.M), mat.Formatted(want))
			}
			if out, err := view.Exposure(v); err != nil || out.Infinite || !mat.EqualApprox(e.M, out.M, 1e-6*size) {
				t.Fatalf("of %d %v, by the protocol %+v, %v", v, mat.Formatted(e.M), out, err)
			}
		}
	})
}

// Under local DP no node is trusted, and what nodes share hides nothing: a node has its own noise alone, by the definition,
// too. An eavesdropper learns less, and what is known of it is no local DP.
func TestLocalDPTrustsNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := 4, rapid.IntRange(1, 3).Draw(t, "T")
		_, w := gossip(t, "complete:4", graph.Uniform)
		noise, c := drawShared(t, n), drawStrategy(t, steps)
		a, own := sharedBy(t, c, noise, nil), func(v int) float64 { return noise.Own[v] }
		if rapid.Bool().Draw(t, "decor") {
			var err error
			if a, err = DECOR(0.5, 2); err != nil {
				t.Fatal(err)
			}
			c, own = strategy.Identity(steps), func(int) float64 { return 0.5 }
		} else {
			a = leveled(t, a, n)
		}
		found, err := account(t, w, a, Attacker{}, steps)
		if err != nil || len(found) != n {
			t.Fatal(len(found), err)
		}
		view, err := Explicit(Scenario{w, a, Attacker{}, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		outside, err := account(t, w, a, Attacker{Trust: Eavesdropper}, steps)
		if err != nil {
			t.Fatal(err)
		}
		local, err := a.Local(every(t, steps))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for v, e := range found {
			want := strategy.GramOf(c)
			want.ScaleSym(a.part(v)*a.part(v)/(own(v)*own(v)), want)
			defined, err := view.Exposure(v)
			if err != nil || !mat.EqualApprox(e.M, want, 1e-9*(1+mat.Max(want))) ||
				!mat.EqualApprox(defined.M, want, 1e-6*(1+mat.Max(want))) {
				t.Fatalf("of %d %v, by the definition %v, %v; want %v", v, mat.Formatted(e.M), mat.Formatted(defined.M), err,
					mat.Formatted(want))
			}
			squared, err := Exact.Squared(e, every(t, steps), math.Inf(1))
			if err != nil || outside[v].M.At(0, 0) > e.M.At(0, 0)*(1+1e-9) {
				t.Fatalf("an eavesdropper learns %v of %d, everybody %v, %v", outside[v].M, v, e.M, err)
			}
			worst = math.Max(worst, squared)
		}
		if math.Abs(worst/local-1) > 1e-5 {
			t.Fatalf("the worst has %v, local DP is %v", worst, local)
		}
	})
}

// A node that sees some messages alone learns what the protocol says, and no more than from all of them.
func TestSharedAccountOfSomeMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossipOf(t, 2, 4)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 3).Draw(t, "T")
		noise, c := drawShared(t, n), drawStrategy(t, steps)
		a := leveled(t, sharedBy(t, c, noise, nil), n)
		by := Attacker{Trust: PNDP, Nodes: rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n-1, rapid.ID).Draw(t, "attackers"),
			SecureSummation: rapid.Bool().Draw(t, "sums")}
		by.ForgetOwnNoise = by.SecureSummation && rapid.Bool().Draw(t, "forget")
		found, err := account(t, w, a, by, steps)
		if errors.Is(err, ErrUnclear) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		view, err := Explicit(Scenario{w, a, by, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		all, err := account(t, w, a, Attacker{Trust: SecLDP, Nodes: by.Nodes}, steps)
		if err != nil {
			t.Fatal(err)
		}
		for v, e := range found {
			out, err := view.Exposure(v)
			if err != nil || out.Infinite || !mat.EqualApprox(e.M, out.M, 1e-6*(1+mat.Max(out.M))) {
				t.Fatalf("of %d %v, by the protocol %+v, %v", v, mat.Formatted(e.M), out, err)
			}
			if sensitivity(t, e.M) > sensitivity(t, all[v].M)*(1+1e-6) && !by.ForgetOwnNoise {
				var rest mat.SymDense
				rest.ScaleSym(-1, e.M)
				rest.AddSym(&rest, all[v].M)
				var eigen mat.EigenSym
				if eigen.Factorize(&rest, false); eigen.Values(nil)[0] < -1e-6 {
					t.Fatalf("of %d more than from all messages: %v", v, eigen.Values(nil))
				}
			}
		}
	})
}

// An attacker who sees all messages of noise that is nearly all shared learns, of what nodes have of their own, no less
// than is told; or the case is said to be unclear.
func TestNoiseThatIsNearlyAllSharedIsNotTrusted(t *testing.T) {
	_, w := gossip(t, "complete:4", graph.Metropolis)
	told := 0
	for exponent := range 14 {
		own := math.Pow(10, -float64(exponent))
		noise := &secrets.Noise{Own: []float64{own, own, own, own}}
		for _, p := range []secrets.Pair{{U: 0, V: 1}, {U: 0, V: 2}, {U: 1, V: 2}} {
			noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: p, Deviation: 0.7})
		}
		found, err := account(t, w, sharedBy(t, strategy.AntiPGD(3), noise, nil), Attacker{Trust: PNDP, Nodes: []int{3}}, 3)
		if errors.Is(err, ErrUnclear) {
			continue
		}
		told++
		square := own * own // of the sum of the three; what else is told of one is shared
		want := 3 * (1/(3*square) + 2./3/(square+3*0.49))
		for v, e := range found {
			if m := e.M.At(0, 0); err != nil || !(m >= want*(1-1e-13) && m <= want*1.001) {
				t.Errorf("own noise of %v: %v of %d, which is %v, %v", own, m, v, want, err)
			}
		}
	}
	if told < 4 {
		t.Errorf("%d noises were told", told)
	}
}

// Any of several coalitions is, of every victim, the one that learns most.
func TestAnyCoalition(t *testing.T) {
	_, w := gossip(t, "cycle:5", graph.Uniform)
	rapid.Check(t, func(t *rapid.T) {
		noise := drawShared(t, 5)
		claim, err := secrets.Colluding(5, rapid.IntRange(0, 2).Draw(t, "size"))
		if err != nil {
			t.Fatal(err)
		}
		a := sharedBy(t, strategy.AntiPGD(3), noise, claim)
		found, err := account(t, w, a, Attacker{Trust: SecLDP, Any: a.Claim()}, 3)
		if err != nil || len(found) != 5 {
			t.Fatal(found, err)
		}
		for v, e := range found {
			var most float64
			for _, c := range claim.Coalitions() {
				one, err := account(t, w, a, Attacker{Trust: SecLDP, Nodes: c}, 3)
				if err != nil {
					t.Fatal(err)
				}
				if x, ok := one[v]; ok {
					most = math.Max(most, sensitivity(t, x.M))
				}
			}
			if got := sensitivity(t, e.M); math.Abs(got/most-1) > 1e-9 {
				t.Fatalf("of %d %v by %v, want %v", v, got, e.By, most)
			}
		}
	})
}

// normalized is the ego of an optimum: noise on the kite that no coalition of a size learns more of than of noise of
// variance one.
func normalized(t *testing.T, n, size int) (*secrets.Noise, *secrets.Attackers) {
	t.Helper()
	noise := &secrets.Noise{}
	for u := range n {
		noise.Own = append(noise.Own, 0.4+0.05*float64(u))
		for v := u + 1; v < n; v++ {
			noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: secrets.Pair{U: u, V: v}, Deviation: 1 + 0.1*float64(v)})
		}
	}
	claim, err := secrets.Colluding(n, size)
	if err != nil {
		t.Fatal(err)
	}
	noise, worst, err := spacetime.Normalize(t.Context(), noise, claim)
	if err != nil || worst.Value > 1 {
		t.Fatal(worst, err)
	}
	return noise, claim
}

// The claim of shared noise holds against the worst coalition that it allows, and fails at half the noise and against a
// coalition with one node more. The eavesdropper learns less.
func TestAuditShared(t *testing.T) {
	for _, size := range []int{1, 2} {
		noise, claim := normalized(t, 6, size)
		_, w := gossip(t, "cycle:6", graph.Uniform)
		a := sharedBy(t, strategy.AntiPGD(3), noise, claim)
		more, err := secrets.Colluding(6, size+1)
		if err != nil {
			t.Fatal(err)
		}
		allowed, err := a.Worst(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		excess, err := a.Worst(t.Context(), more)
		if err != nil {
			t.Fatal(err)
		}
		s := Scenario{w, a, Attacker{Trust: SecLDP, Any: claim}, every(t, 3)}
		for name, tc := range map[string]struct {
			by     secrets.Worst
			scale  float64
			passed bool
		}{
			"as claimed":        {allowed, 1, true},
			"half the noise":    {allowed, 0.5, false},
			"one node too many": {excess, 1, false},
			"the eavesdropper":  {secrets.Worst{Attacker: []int{}, Victim: allowed.Victim}, 1, true},
		} {
			r, err := Audit(t.Context(), s, tc.by.Victim, AuditOptions{Random: rand.NewPCG(1, 2), NoiseScale: tc.scale,
				Colluding: append([]int{}, tc.by.Attacker...)})
			if err != nil || r.Passed != tc.passed {
				t.Errorf("size %d, %s: %+v, %v", size, name, r, err)
			}
			want := math.Sqrt(tc.by.Value) * r.Claimed
			if name != "the eavesdropper" && math.Abs(r.Reachable/want-1) > 1e-4 {
				t.Errorf("size %d, %s: reachable %v, want %v", size, name, r.Reachable, want)
			}
		}
	}
}

// The claim is what the export promises, also where its noise has been made less.
func TestAuditOfLessNoiseThanPromised(t *testing.T) {
	noise, claim := normalized(t, 6, 1)
	_, w := gossip(t, "cycle:6", graph.Uniform)
	a := sharedBy(t, strategy.AntiPGD(3), noise.Scaled(0.7), nil)
	a.space.claim = claim
	worst, err := a.Worst(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	promised, err := MFDSGD(strategy.AntiPGD(3)).Local(every(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]Attacker{"any": {Trust: SecLDP, Any: claim}, "one": {Trust: SecLDP, Nodes: worst.Attacker}} {
		r, err := Audit(t.Context(), Scenario{w, a, by, every(t, 3)}, worst.Victim, AuditOptions{Random: rand.NewPCG(1, 2),
			Colluding: worst.Attacker})
		if err != nil || r.Passed || math.Abs(r.Claimed/math.Sqrt(promised)-1) > 1e-3 {
			t.Errorf("%s: %+v, %v; promised %v", name, r, err, math.Sqrt(promised))
		}
	}
}

// What cannot be accounted for is refused; where everything of a victim is known, nothing is claimed.
func TestSharedIsRefused(t *testing.T) {
	_, w := gossip(t, "cycle:6", graph.Uniform)
	noise, claim := normalized(t, 6, 1)
	a := sharedBy(t, strategy.AntiPGD(3), noise, claim)
	s := Scenario{w, a, Attacker{Trust: SecLDP, Any: claim}, every(t, 3)}
	var argument *fault.Argument
	if _, err := Audit(t.Context(), s, 0, AuditOptions{Random: rand.NewPCG(1, 2)}); !errors.As(err, &argument) || argument.Field != "Colluding" {
		t.Errorf("nobody attacks: %v", err)
	}
	visit := func(Exposure) error { return nil }
	for name, by := range map[string]Attacker{
		"any under PNDP":      {Trust: PNDP, Any: claim, Nodes: []int{0}},
		"any under LDP":       {Any: claim},
		"any beside a node":   {Trust: SecLDP, Any: claim, Nodes: []int{0}},
		"a node out of range": {Trust: SecLDP, Nodes: []int{6}},
	} {
		s.Attacker = by
		if err := Account(t.Context(), s, visit); !errors.Is(err, ErrAttacker) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Attacker, s.Algorithm = Attacker{Trust: SecLDP, Any: claim}, DPDSGD()
	if err := Account(t.Context(), s, visit); !errors.Is(err, ErrAttacker) {
		t.Errorf("noise of nodes alone: %v", err)
	}
	if _, err := DPDSGD().Worst(t.Context(), claim); !errors.Is(err, ErrAttacker) {
		t.Errorf("worst of nobody: %v", err)
	}
	_, small := gossip(t, "cycle:5", graph.Uniform)
	s.Gossip, s.Algorithm, s.Attacker = small, a, Attacker{}
	if err := Account(t.Context(), s, visit); !errors.Is(err, ErrStrategy) {
		t.Errorf("another network: %v", err)
	}
	bare := &secrets.Noise{Own: []float64{0, 0, 1, 1, 1, 1}, Pairs: noise.Pairs[:1]} // 0 and 1 have the noise that they share alone
	s.Gossip, s.Algorithm, s.Attacker = w, sharedBy(t, strategy.AntiPGD(3), bare, claim), Attacker{Trust: SecLDP, Nodes: []int{1}}
	found, err := account(t, w, s.Algorithm, s.Attacker, 3)
	if err != nil || !found[0].Infinite || found[2].Infinite {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := Audit(context.Background(), s, 0, AuditOptions{Random: rand.NewPCG(1, 2)}); !errors.Is(err, ErrAudit) {
		t.Errorf("nothing is claimed: %v", err)
	}
	if local, err := s.Algorithm.Local(s.Schema); err != nil || !math.IsInf(local, 1) {
		t.Errorf("local DP %v, %v", local, err)
	}
	r, err := Audit(t.Context(), Scenario{w, a, Attacker{Trust: SecLDP, Any: claim}, every(t, 3)}, 0,
		AuditOptions{Random: rand.NewPCG(1, 2), Colluding: []int{1, 2, 3, 4, 5}})
	if err != nil || r.Passed {
		t.Errorf("all others: %+v, %v", r, err)
	}
}
