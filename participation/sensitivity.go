package participation

import (
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
)

// Sensitivity is what one record can change, squared, for contributions of norm at most one.
type Sensitivity struct {
	Squared  float64 // an upper bound of sens², rounded up
	Attained float64 // what some contribution reaches; sens² lies between the two
	Exact    bool    // Squared and Attained agree to 1e-12: Squared is sens² itself, up to rounding
	Pattern  []int   // the pattern that gives Squared, or, of a bound under min-sep, one that comes close
}

// Kind returns "exact" or "bound".
func (s Sensitivity) Kind() string {
	if s.Exact {
		return "exact"
	}
	return "bound"
}

const exactWithin = 1e-12

// SumBound returns the sensitivity of a strategy under a set of patterns, given its T×T Gram matrix x = CᵀC: the
// largest sum of magnitudes over a pattern (Bellet et al., Equation 8, for sens²), which is a bound, and sens² itself
// where it is attained. Where entries of x were rounded away from zero, or not at all, Squared is proven to be no less
// than the truth.
//
// The error cases are NaN or infinite entries, and steps outside x. The cost is O(Σ |π|²) entries of x, whose At must
// be safe for several goroutines.
func SumBound(x mat.Symmetric, patterns [][]int) (Sensitivity, error) {
	steps := x.SymmetricDim()
	worst := Sensitivity{Squared: math.Inf(-1), Attained: math.Inf(-1)}
	for _, pattern := range patterns {
		block, err := restrict(x, pattern, steps)
		if err != nil {
			return Sensitivity{}, err
		}
		if sum := sumOfMagnitudes(block); sum > worst.Squared {
			worst.Squared, worst.Pattern = sum, pattern
		}
		worst.Attained = math.Max(worst.Attained, attainedSquare(block))
	}
	return worst.settlePatterns(len(patterns), steps, exactWithin)
}

// settlePatterns settles s, and refuses a bound that is not finite.
func (s Sensitivity) settlePatterns(patterns, steps int, within float64) (Sensitivity, error) {
	if s.Squared-s.Squared != 0 {
		return Sensitivity{}, fmt.Errorf("sensitivity of %d patterns over %d steps is not finite", patterns, steps)
	}
	return s.settle(within), nil
}

// settle returns s with Exact decided, and rounding of Attained kept below Squared.
func (s Sensitivity) settle(within float64) Sensitivity {
	s.Attained = math.Min(s.Attained, s.Squared)
	s.Exact = s.Attained >= s.Squared*(1-within)
	return s
}

// restrict copies x[π,π]. Entries of x may be costly, so they are asked for by several goroutines.
func restrict(x mat.Symmetric, pattern []int, steps int) (*mat.SymDense, error) {
	if len(pattern) == 0 {
		return nil, fmt.Errorf("%w: an empty pattern", ErrSchema)
	}
	for _, s := range pattern {
		if s < 0 || s >= steps {
			return nil, fmt.Errorf("%w: step %d is not one of %d", ErrSchema, s, steps)
		}
	}
	block := mat.NewSymDense(len(pattern), nil)
	parallel.Workers(min(runtime.GOMAXPROCS(0), (len(pattern)+15)/16), len(pattern), func(_, i int) {
		for j := i; j < len(pattern); j++ {
			block.SetSym(i, j, x.At(pattern[i], pattern[j]))
		}
	})
	for i := range pattern {
		for j := i; j < len(pattern); j++ {
			if v := block.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("strategy Gram matrix entry (%d,%d) is %v", pattern[i], pattern[j], v)
			}
		}
	}
	return block, nil
}

func sumOfMagnitudes(block *mat.SymDense) float64 {
	var sum rounding.Sum
	k := block.SymmetricDim()
	for i := range k {
		for j := range k {
			sum.Add(math.Abs(block.At(i, j)))
		}
	}
	return sum.Up()
}

// attainedSquare returns εᵀ X ε for good signs ε (contributions that are all parallel). The signs start from the heaviest
// connections, which settles every case where the sum of magnitudes is attained, and improve by single flips.
func attainedSquare(block *mat.SymDense) float64 {
	signs := spanningSigns(block)
	k := block.SymmetricDim()
	for improved := true; improved; {
		improved = false
		for i := range k {
			var field float64
			for j := range k {
				if j != i {
					field += block.At(i, j) * signs[j]
				}
			}
			if signs[i]*field < -1e-14*math.Abs(block.At(i, i)) {
				signs[i] = -signs[i]
				improved = true
			}
		}
	}
	v := mat.NewVecDense(k, signs)
	return mat.Inner(v, block, v)
}

// spanningSigns grows a maximum spanning tree of |X| (Prim) and gives every new step the sign that agrees with the edge
// it came by.
func spanningSigns(block *mat.SymDense) []float64 {
	k := block.SymmetricDim()
	signs := make([]float64, k) // 0: not in the tree
	link := make([]float64, k)  // the heaviest entry to the tree, signed by the tree's end
	for range k {
		next := -1
		for i := range k {
			if signs[i] == 0 && (next < 0 || math.Abs(link[i]) > math.Abs(link[next])) {
				next = i
			}
		}
		signs[next] = 1
		if link[next] < 0 {
			signs[next] = -1
		}
		for i := range k {
			if v := block.At(i, next) * signs[next]; math.Abs(v) > math.Abs(link[i]) {
				link[i] = v
			}
		}
	}
	return signs
}
