package sampling

import (
	"fmt"

	"mafalda/internal/fault"
	"mafalda/participation"
)

// inBins is participation.Bins. Its accountant is for a strategy (package bins), and so there is no Draw.
type inBins struct{}

func (inBins) Traits() Traits {
	return Traits{About: "in secret, every record put once into one of b batches of random size, drawn independently and uniformly: not a " +
		"permutation that is cut into equal batches"}
}

func (inBins) Check(participation.Schema) error { return nil }

func (inBins) Numbers(s Scheme, schema participation.Schema, _ int) Numbers {
	return Numbers{s, schema.Steps(), schema.Separation(), schema.Participations(), 1}
}

func (inBins) Draw(n Numbers) (Draw, error) {
	return nil, fault.New("Sampling", n.Of, "has an accountant of its own")
}

func (n inBins) Begun(of Numbers, _ int) ([]Draw, error) {
	_, err := n.Draw(of)
	return nil, err
}

func (inBins) Sampling(n Numbers) participation.Sampling {
	return participation.BinsSampling{Bins: n.Groups}
}

func (inBins) Read(s participation.Sampling, steps int) (n Numbers, is bool) {
	b, is := s.(participation.BinsSampling)
	n.Groups = b.Bins
	return n, is
}

func (inBins) Condition(n Numbers) string {
	return fmt.Sprintf("every record is once put into one of %d batches at random, uniformly and independently; step t takes all of "+
		"batch t mod %[1]d", n.Groups)
}
