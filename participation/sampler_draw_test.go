package participation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/internal/fault"
)

// A coin's probability is never above the one asked for, and less than 2⁻⁶⁴ below.
func TestCoinRoundsDown(t *testing.T) {
	one := new(big.Float).SetMantExp(big.NewFloat(1), 64)
	check := func(t interface{ Fatalf(string, ...any) }, q float64) {
		c := newCoin(q)
		scaled := new(big.Float).SetPrec(200).Mul(one, big.NewFloat(q))
		below := new(big.Float).SetPrec(200).Sub(scaled, new(big.Float).SetUint64(c.threshold))
		if c.always || below.Sign() < 0 || below.Cmp(big.NewFloat(1)) >= 0 {
			t.Fatalf("q = %v: threshold %d, always %v", q, c.threshold, c.always)
		}
		if q >= math.Ldexp(1, -12) && below.Sign() != 0 {
			t.Fatalf("q = %v: threshold %d is not exact", q, c.threshold)
		}
		if c.threshold > 0 && (!c.comesUp(c.threshold-1) || c.comesUp(c.threshold) || c.comesUp(math.MaxUint64)) {
			t.Fatalf("q = %v: the coin is not its threshold", q)
		}
	}
	for _, q := range []float64{0, 5e-324, 1e-20, 1e-4, 0.5, 1. / 3, 1 - 0x1p-53, 0x1p-64, 0x1p-12} {
		check(t, q)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Float64Range(0, 1-0x1p-53).Draw(t, "q")*math.Pow(2, -rapid.Float64Range(0, 60).Draw(t, "e")))
	})
	if c := newCoin(1); !c.comesUp(math.MaxUint64) || !c.comesUp(0) {
		t.Error("q = 1 leaves records out")
	}
}

// Numbers that are taken are equally many of each: those below the last whole multiple of m.
func TestUniformRejects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.OneOf(rapid.Uint64Range(1, 1000), rapid.Uint64Range(1<<61, math.MaxInt64)).Draw(t, "m")
		all := new(big.Int).Lsh(big.NewInt(1), 64)
		whole := new(big.Int).Sub(all, new(big.Int).Mod(all, new(big.Int).SetUint64(m))) // numbers below it are taken
		edge := new(big.Int).Sub(whole, big.NewInt(1)).Uint64()
		drawn := rapid.Uint64().Draw(t, "number")
		for _, number := range []uint64{0, m - 1, m, edge, edge + 1, math.MaxUint64, drawn} {
			v, ok := uniform(number, m)
			if want := new(big.Int).SetUint64(number).Cmp(whole) < 0; v != number%m || ok != want {
				t.Fatalf("%d of %d: %d, %v", number, m, v, ok)
			}
		}
	})
	const m = 1<<62 + 1 // a quarter of the numbers is left
	key, half := SeededKey(1, "node"), 0
	assigned := key.assign(forBins, 4000, m)
	for record, v := range assigned {
		if attempt := 0; v != int(key.number(forBins, attempt, record)%m) || !taken(key, attempt, record, m) {
			for attempt = 1; !taken(key, attempt, record, m); {
				attempt++
			}
			if want := int(key.number(forBins, attempt, record) % m); v != want {
				t.Fatalf("record %d: %d, must be %d of attempt %d", record, v, want, attempt)
			}
		}
		if v < 1<<61 {
			half++
		}
	}
	if err := within(half, 4000, 0.5); err != nil {
		t.Error(err)
	}
}

func taken(key Key, attempt, record int, m uint64) bool {
	_, ok := uniform(key.number(forBins, attempt, record), m)
	return ok
}

// The documented construction, made again from its description: whoever draws these batches elsewhere draws the same.
func TestDrawsAreAsDocumented(t *testing.T) {
	number := func(secret []byte, purpose, round, record uint64) uint64 {
		message := append([]byte("mafalda sampling 1"), secret...)
		for _, v := range []uint64{purpose, round, record / 4096} {
			message = binary.LittleEndian.AppendUint64(message, v)
		}
		source := mathrand.NewChaCha8(sha256.Sum256(message))
		for range record % 4096 {
			source.Uint64()
		}
		return source.Uint64()
	}
	seed := sha256.Sum256(append([]byte("mafalda sampling seed 1\x07\x00\x00\x00\x00\x00\x00\x00"), "ann"...))
	key, err := KeyFromBytes(seed[:])
	if err != nil || !slices.Equal(SeededKey(7, "ann").Bytes(), seed[:]) {
		t.Fatal("the seeded key is another one", err)
	}
	o := SamplerOptions{Records: 5000, Steps: 6, Key: key}
	poisson, err := PoissonSampling{Groups: 3, Probability: 0.125}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	bins, err := BinsSampling{Bins: 5}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []uint64{0, 1, 17, 4095, 4096, 4999} {
		for step := range uint64(6) {
			want := number(seed[:], 0, 0, record)%3 == step%3 && number(seed[:], 1, step, record) < 1<<61
			if slices.Contains(poisson.Batch(int(step)), int(record)) != want {
				t.Errorf("record %d in step %d: poisson must be %v", record, step, want)
			}
			if got := slices.Contains(bins.Batch(int(step)), int(record)); got != (number(seed[:], 2, 0, record)%5 == step%5) {
				t.Errorf("record %d in step %d: bins %v", record, step, got)
			}
		}
	}
}

// Keys are drawn, and show nothing of themselves.
func TestKeysAreSecret(t *testing.T) {
	a, b := NewKey(), NewKey()
	if slices.Equal(a.Bytes(), b.Bytes()) || len(a.Bytes()) != KeySize {
		t.Fatal("keys of the operating system are the same")
	}
	a.Bytes()[0]++
	secret := a.Bytes()
	text, err := json.Marshal(map[string]any{"key": a})
	shown := fmt.Sprintf("%v %+v %#v %s %x %d %v %+v", a, a, a, a, a, a, struct{ Key Key }{a}, &a) + string(text)
	for _, form := range []string{string(secret), fmt.Sprintf("%x", secret), fmt.Sprint(secret[:4])[1:]} {
		if err != nil || strings.Contains(shown, form) {
			t.Errorf("%v: %s", err, shown)
		}
	}
	copied := slices.Clone(secret)
	k, err := KeyFromBytes(secret)
	if secret[0]++; err != nil || !slices.Equal(k.Bytes(), copied) {
		t.Error("a key changes with the bytes that it was made of", err)
	}
}

func TestSamplerBadArguments(t *testing.T) {
	good := SamplerOptions{Records: 10, Steps: 6, Key: SeededKey(1, "")}
	with := func(change func(o *SamplerOptions)) SamplerOptions {
		o := good
		change(&o)
		return o
	}
	for name, tc := range map[string]struct {
		sampling Sampling
		o        SamplerOptions
		field    string
	}{
		"records":           {BinsSampling{2}, with(func(o *SamplerOptions) { o.Records = -1 }), "Records"},
		"steps":             {CyclicSampling{Batches: 1}, with(func(o *SamplerOptions) { o.Steps = 0 }), "Steps"},
		"key":               {PoissonSampling{1, 0.5}, with(func(o *SamplerOptions) { o.Key = Key{} }), "Key"},
		"key of drawn ones": {CyclicSampling{2, true}, with(func(o *SamplerOptions) { o.Key = Key{} }), "Key"},
		"no batches":        {CyclicSampling{}, good, "Batches"},
		"many batches":      {CyclicSampling{Batches: 7}, good, "Batches"},
		"no bins":           {BinsSampling{}, good, "Bins"},
		"many bins":         {BinsSampling{7}, good, "Bins"},
		"no groups":         {PoissonSampling{0, 0.5}, good, "Groups"},
		"many groups":       {PoissonSampling{7, 0.5}, good, "Groups"},
		"never":             {PoissonSampling{1, 0}, good, "Probability"},
		"hardly ever":       {PoissonSampling{1, 1e-20}, good, "Probability"},
		"more than always":  {PoissonSampling{1, 1.01}, good, "Probability"},
		"no number":         {PoissonSampling{1, math.NaN()}, good, "Probability"},
		"min-sep, never":    {MinSepSampling{1, 1, 0}, good, "Probability"},
		"min-sep":           {MinSepSampling{4, 3, 0.5}, good, "Separation"},
	} {
		s, err := tc.sampling.Sampler(tc.o)
		var a *fault.Argument
		if s != nil || !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	var a *fault.Argument
	if _, err := KeyFromBytes(make([]byte, 31)); !errors.As(err, &a) || a.Field != "Key" {
		t.Errorf("%v", err)
	}
	if _, err := (CyclicSampling{Batches: 2}).Sampler(SamplerOptions{Records: 3, Steps: 4}); err != nil {
		t.Errorf("batches by position need no key: %v", err)
	}
}

// broken has a batch that its contract does not allow.
type broken struct {
	Sampler
	step  int
	batch []int
}

func (b broken) Batch(step int) []int {
	if step == b.step {
		return b.batch
	}
	return b.Sampler.Batch(step)
}

func TestCheckSamplerRefuses(t *testing.T) {
	good := sampler(t, CyclicSampling{Batches: 3}, 6, 1)
	for name, b := range map[string]broken{
		"another batch":   {good, 4, []int{0}},
		"twice":           {good, 3, []int{0, 0}},
		"nobody's record": {good, 3, []int{0, 6}},
		"not ascending":   {good, 3, []int{3, 0}},
	} {
		if err := CheckSampler(b); !errors.Is(err, ErrViolated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckSampler(good); err != nil {
		t.Error(err)
	}
}
