package participation

// poolSize is about how many patterns of a schema with too many are in its Pool.
const poolSize = 8000

// Pool returns patterns of the schema that matter: all of them where they can be listed. Of min-sep, those whose steps
// are exactly b apart but for one gap that may be longer, or every few of these. A bound for a distribution over these
// patterns is one for the schema.
func Pool(s Schema) [][]int {
	if listed, ok := s.(interface{ Patterns() [][]int }); ok {
		return listed.Patterns()
	}
	m, ok := s.(MinSep)
	if !ok || m.participations == 1 {
		return s.Disjoint()
	}
	k, b := m.participations, m.separation
	slack := max(b, m.steps-(k-1)*b) // of the first step and of the gap: more leaves room for another step
	stride := 1
	for stride < slack && (slack+stride-1)/stride*((slack+stride-1)/stride)*k > poolSize {
		stride++
	}
	var pool [][]int
	for first := 0; first < slack; first += stride {
		pool = append(pool, m.withGap(first, k, 0))
		for late := 1; late < k; late++ {
			for extra := stride; extra < slack; extra += stride {
				if p := m.withGap(first, late, extra); len(p) > late {
					pool = append(pool, p)
				}
			}
		}
	}
	return pool
}

// withGap returns the steps from first on that are b apart, at most k, of which those from the late-th on come extra
// steps later.
func (m MinSep) withGap(first, late, extra int) []int {
	var p []int
	for i := range m.participations {
		s := first + i*m.separation
		if i >= late {
			s += extra
		}
		if s >= m.steps {
			break
		}
		p = append(p, s)
	}
	return p
}
