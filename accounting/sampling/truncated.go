package sampling

import (
	"cmp"
	"fmt"

	"mafalda/internal/fault"
	"mafalda/participation"
)

// truncated is participation.Truncated.
type truncated struct{ poisson }

func (truncated) Traits() Traits {
	return Traits{Banded: true, Independent: true, Largest: true, Parameters: []string{"probability", "rounds", "records", "max"},
		About: "poisson with batches of at most max of up to records records, for static shapes"}
}

func (truncated) Draw(n Numbers) (Draw, error) {
	return n.poisson(n.Rounds), cmp.Or(n.Batches.Check(), fault.CheckRange("Probability", n.Probability, "(0,1]"))
}

func (truncated) Sampling(n Numbers) participation.Sampling {
	return participation.TruncatedSampling{PoissonSampling: n.poissonSampling(), MaxBatch: n.Batches.Most, Most: n.Batches.Records}
}

func (t truncated) Read(s participation.Sampling, steps int) (n Numbers, is bool) {
	cut, is := s.(participation.TruncatedSampling)
	if is {
		n, _ = t.poisson.Read(cut.PoissonSampling, steps)
		n.Batches = Batches{Records: cut.Most, Most: cut.MaxBatch}
	}
	return n, is
}

func (t truncated) Condition(n Numbers) string {
	return t.poisson.Condition(n) + fmt.Sprintf(", and of more than %d those that other random numbers say are dropped, for nodes of at "+
		"most %d records", n.Batches.Most, n.Batches.Records)
}
