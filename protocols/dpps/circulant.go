package dpps

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"mafalda/graph"
	"mafalda/internal/lists"
)

func numbers(n int) []string { return lists.Make(n, strconv.Itoa) }

// maxCirculant is the largest number of nodes of DOut and Exponential: calibration has n³ steps.
const maxCirculant = 1 << 14

// circulant lets node i send to i + offset for each offset, itself among them, with equal weights.
func circulant(n int, offsets []int) *graph.CSR {
	share := 1 / float64(len(offsets))
	var entries []graph.Edge
	receives := make([]float64, n)
	for i := range n {
		for _, o := range offsets {
			receives[((i-o)%n+n)%n] += share
		}
		for j, v := range receives {
			if v > 0 {
				entries = append(entries, graph.Edge{U: i, V: j, Weight: v})
				receives[j] = 0
			}
		}
	}
	return graph.NewSquare(n, entries)
}

// DOut is the d-Out graph (Zhou et al., Remark 2): node i sends to i, i+1, …, i+d-1 modulo n, so to itself and d-1
// others, with weights 1/d.
func DOut(n, d int) (*Sequence, error) {
	if n < 2 || n > maxCirculant || d < 2 || d > n {
		return nil, fmt.Errorf("%w: d-out:%d,%d: must have from 2 to %d nodes, and 2 ≤ d ≤ n "+
			"(one of the d is the node itself)", ErrNetwork, n, d, maxCirculant)
	}
	offsets := lists.UpTo(d)
	return NewSequence(numbers(n), []*graph.CSR{circulant(n, offsets)})
}

// Exponential is the time-varying exponential graph: in round t node i sends to itself and to i + 2^(t mod p) modulo
// n, with weights ½, where p = ⌊log₂(n-1)⌋ + 1 (Assran et al. 2019; Remark 2 of Zhou et al. prints ⌈⌉, with which all
// nodes of n = 2^k send only to themselves in every last round). With n = 2^p everybody has the exact average after p
// rounds without noise.
func Exponential(n int) (*Sequence, error) {
	if n < 2 || n > maxCirculant {
		return nil, fmt.Errorf("%w: exp:%d: must have from 2 to %d nodes", ErrNetwork, n, maxCirculant)
	}
	weights := lists.Make(bits.Len(uint(n-1)), func(o int) *graph.CSR { return circulant(n, []int{0, 1 << o}) })
	return NewSequence(numbers(n), weights)
}

// ByName returns the graphs of "d-out:n,d" and "exp:n"; known is false for other names. The errors wrap ErrNetwork, but
// for a name of another form.
func ByName(spec string) (s *Sequence, known bool, err error) {
	name, arguments, _ := strings.Cut(spec, ":")
	p := lists.Map(strings.Split(arguments, ","), func(field string) int { return whole(strings.TrimSpace(field)) })
	switch {
	case name == "d-out" && len(p) == 2:
		s, err = DOut(p[0], p[1])
	case name == "exp" && len(p) == 1:
		s, err = Exponential(p[0])
	case name == "d-out" || name == "exp":
		err = fmt.Errorf("graph %q: the forms are d-out:n,d and exp:n", spec)
	default:
		return nil, false, nil
	}
	return s, true, err
}

// whole reads a number in decimal digits, which may have an exponent; -1 if it is not whole, or far too large.
func whole(text string) int {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789e+") != "" || v != math.Trunc(v) || math.Abs(v) > 1<<31 {
		return -1
	}
	return int(v)
}
