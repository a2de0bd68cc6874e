package bins

import "math"

// tuples are the multisets of k of the b bins, with what the density of a component needs to know of each.
type tuples struct {
	size          int       // k
	members       []int32   // k numbers a tuple
	logChance     []float64 // log of the probability that k independent uniform draws give the tuple, in any order
	square, trace []float64 // nᵀGn and Σ n_j G_jj, with the multiplicities n
}

// maxTuples is how many multisets of a size are listed at most.
const maxTuples = 50000

// allTuples returns the multisets of bins of up to three sizes: 1, 2, and the largest size, of maxTupleSize at most, that has no
// more than maxTuples multisets.
func allTuples(gram []float64, bins int) []*tuples {
	all := []*tuples{newTuples(gram, bins, 1)}
	largest := 1
	for largest < maxTupleSize && countTuples(bins, largest+1) <= maxTuples {
		largest++
	}
	if largest > 2 {
		all = append(all, newTuples(gram, bins, 2))
	}
	if largest > 1 && bins > 1 {
		all = append(all, newTuples(gram, bins, largest))
	}
	return all
}

const maxTupleSize = 12

// countTuples returns the number of multisets of size k, (b+k-1 over k), as a float64.
func countTuples(bins, k int) float64 {
	count := 1.0
	for i := 1; i <= k; i++ {
		count *= float64(bins+i-1) / float64(i)
	}
	return count
}

func newTuples(gram []float64, bins, k int) *tuples {
	t := &tuples{size: k}
	current := make([]int32, k)
	logFactorials := make([]float64, k+1)
	for i := 1; i <= k; i++ {
		logFactorials[i] = logFactorials[i-1] + math.Log(float64(i))
	}
	for {
		t.members = append(t.members, current...)
		logChance := logFactorials[k] - float64(k)*math.Log(float64(bins))
		var square, trace float64
		for i, run := 0, 0; i < k; i++ {
			row := gram[int(current[i])*bins:]
			for _, j := range current {
				square += row[j]
			}
			trace += row[current[i]]
			run++
			if i == k-1 || current[i+1] != current[i] {
				logChance -= logFactorials[run]
				run = 0
			}
		}
		t.logChance = append(t.logChance, logChance)
		t.square, t.trace = append(t.square, square), append(t.trace, trace)
		if !nextMultiset(current, bins) {
			return t
		}
	}
}

// nextMultiset moves an ascending tuple on to the next one, and reports whether there is one.
func nextMultiset(tuple []int32, bins int) bool {
	for i := len(tuple) - 1; i >= 0; i-- {
		if int(tuple[i]) < bins-1 {
			next := tuple[i] + 1
			for j := i; j < len(tuple); j++ {
				tuple[j] = next
			}
			return true
		}
	}
	return false
}
