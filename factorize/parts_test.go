package factorize

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// handedOn computes parts as far away machines would: one after the other, the last one first, through plain data. What is asked
// for again is found again.
func handedOn(t rapid.TB, asked map[string]string) Parts {
	return func(ctx context.Context, parts []Part, compute func(context.Context, Part) (Found, error)) ([]Found, error) {
		all := make([]Found, len(parts))
		for i := len(parts) - 1; i >= 0; i-- {
			text, err := json.Marshal(parts[i])
			if err != nil {
				t.Fatal(err)
			}
			name := string(text)
			var p Part
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			found, err := compute(ctx, p)
			if err != nil {
				return nil, err
			}
			if text, err = json.Marshal(found); err != nil {
				t.Fatal(err)
			}
			if before, again := asked[name]; again && before != string(text) {
				t.Fatalf("%s finds\n%s\n%s", name, before, text)
			}
			asked[name] = string(text)
			if err := json.Unmarshal(text, &all[i]); err != nil {
				t.Fatal(err)
			}
		}
		return all, nil
	}
}

// Parts that are computed elsewhere make the same split, to the last bit.
func TestPartsChangeNothing(t *testing.T) {
	checkFew(t, func(t *rapid.T) {
		s := drawSchema(t)
		grams, sum := nodeGrams(t, s.Steps())
		n := Nodes{Grams: grams, Shared: optimal(t, sum, s).Strategy, Groups: rapid.IntRange(0, len(grams)).Draw(t, "groups")}
		want, err := n.Optimize(context.Background(), s, Options{Gap: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		n.Parts = handedOn(t, map[string]string{})
		got, err := n.Optimize(context.Background(), s, Options{Gap: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got.Strategies {
			var a, b mat.TriDense
			c.StrategyTo(&a)
			want.Strategies[i].StrategyTo(&b)
			if !mat.Equal(&a, &b) {
				t.Fatalf("strategy %d is another one", i)
			}
		}
		got.Strategies, want.Strategies = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\n%+v", got, want)
		}
	})
}

// The error of parts, a context that ends, and a strategy of another size end the search; nothing half found is handed on.
func TestPartsFail(t *testing.T) {
	s := schema(t, 2, 3)
	h := mat.NewSymDense(6, nil)
	for i := range 6 {
		h.SetSym(i, i, 1)
	}
	n := Nodes{Grams: []*mat.SymDense{h}, Shared: optimal(t, h, s).Strategy}
	broken := errors.New("broken")
	ended, cancel := context.WithCancelCause(t.Context())
	for name, tc := range map[string]struct {
		parts Parts
		want  error
	}{
		"an error": {func(context.Context, []Part, func(context.Context, Part) (Found, error)) ([]Found, error) {
			return nil, broken
		}, broken},
		"a context": {func(_ context.Context, parts []Part, compute func(context.Context, Part) (Found, error)) ([]Found, error) {
			cancel(broken)
			found, err := compute(ended, parts[0])
			return []Found{found}, err
		}, broken},
		"another size": {func(context.Context, []Part, func(context.Context, Part) (Found, error)) ([]Found, error) {
			return []Found{{Strategy: make([]byte, 8)}}, nil
		}, nil},
		"no strategy": {func(context.Context, []Part, func(context.Context, Part) (Found, error)) ([]Found, error) {
			return []Found{{Strategy: make([]byte, 8*21)}}, nil
		}, nil},
	} {
		n.Parts = tc.parts
		if _, err := n.Optimize(t.Context(), s, Options{}); err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where others have yet to compute their parts, in whichever round, there is no split, and nothing has gone wrong.
func TestPartsLeftToOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		grams, sum := nodeGrams(t, s.Steps())
		n := Nodes{Grams: grams, Shared: optimal(t, sum, s).Strategy, Groups: rapid.IntRange(0, len(grams)).Draw(t, "groups")}
		here, left := handedOn(t, map[string]string{}), rapid.IntRange(0, 6).Draw(t, "rounds")
		n.Parts = func(ctx context.Context, parts []Part, compute func(context.Context, Part) (Found, error)) ([]Found, error) {
			if left--; left < 0 {
				return nil, nil
			}
			return here(ctx, parts, compute)
		}
		if split, err := n.Optimize(context.Background(), s, Options{Gap: 1e-6}); err != nil || (split == nil) != (left < 0) {
			t.Fatalf("%v, %v, %d rounds left", split, err, left)
		}
	})
}
