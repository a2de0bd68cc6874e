package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Impulses make the Gram matrix, and never more.
func TestImpulsesMakeTheGramMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 40).Draw(t, "T")
		s := drawInvariant(t, steps)
		s.Weights = Weights{}
		var response *Response
		var h *mat.SymDense
		var err error
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s = s.Centralized()
			response, err = CentralizedResponse(s, nil, steps)
		case 1:
			w, pi := reversible(t)
			response, err = everything(t, w, pi, s).Response(steps)
			h, _ = Gram(context.Background(), w, steps, Options{Spec: s})
		default:
			w, pi := reversible(t)
			response, _, err = ExactResponse(w, pi, s, nil, steps)
			h, _ = Gram(context.Background(), w, steps, Options{Spec: s})
		}
		if h == nil {
			h, _ = Gram(context.Background(), nil, steps, Options{Spec: s})
		}
		if err != nil || h == nil {
			t.Fatal(err)
		}
		impulses, err := response.Impulses()
		if err != nil {
			t.Fatal(err)
		}
		size := mat.Norm(h, 2)
		for _, r := range impulses {
			part := mat.NewDense(steps, steps, nil)
			for u := range steps {
				for v := range u + 1 {
					part.Set(u, v, r[u-v])
				}
			}
			var square mat.SymDense
			square.SymOuterK(-1, part.T())
			h.AddSym(h, &square)
		}
		var e mat.EigenSym
		if !e.Factorize(h, false) || e.Values(nil)[0] < -1e-11*size || math.Abs(mat.Norm(h, 2)) > 1e-6*size {
			t.Fatalf("%d impulses leave %v, the least eigenvalue is %v, of %v", len(impulses), mat.Norm(h, 2), e.Values(nil)[0], size)
		}
	})
}
