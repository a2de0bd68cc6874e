package workload

import (
	"errors"
	"fmt"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/study"
)

// Sequence is gossip matrices that take turns: step t has the matrix t mod their number. In JSON it is their number and
// the digest of all their entries; a Sequence that was read from there has no matrices until it is Attached to some.
type Sequence struct {
	Networks int          `json:"networks"`         // number of the matrices
	SHA256   string       `json:"sha256"`           // digest of all their entries
	Source   string       `json:"source,omitempty"` // name of the file that they come from, for people; empty without a file
	matrices []*graph.CSR `json:"-"`
}

// ErrDetached is returned where the matrices of a sequence are needed of which there is only a digest.
var ErrDetached = errors.New("a sequence of networks is known by its digest alone")

// NewSequence makes a sequence of row-stochastic n×n matrices, which it keeps. The source is the name of the file that
// they come from, or empty. The errors, of GraphSequence, are no matrices, and matrices of different sizes.
func NewSequence(matrices []*graph.CSR, source string) (*Sequence, error) {
	if len(matrices) == 0 {
		return nil, fault.New("GraphSequence", nil, "there is no network in it")
	}
	s := &Sequence{matrices: matrices, Networks: len(matrices), Source: source}
	n, _ := matrices[0].Dims()
	d := study.NewDigest()
	d.Int(len(matrices))
	for t, w := range matrices {
		if err := checkSquare(w); err != nil {
			return nil, fault.Because("GraphSequence", fmt.Errorf("network %d of the sequence: %w", t+1, err))
		}
		if r, _ := w.Dims(); r != n {
			return nil, fault.New("GraphSequence", nil, "network %d has %d nodes, the first %d", t+1, r, n)
		}
		d.Int(n)
		d.Int(w.NNZ())
		w.DoNonZero(func(i, j int, v float64) {
			d.Int(i)
			d.Int(j)
			d.Float(v)
		})
	}
	s.SHA256 = d.Sum()
	return s, nil
}

// Attached reports whether the matrices are known.
func (s *Sequence) Attached() bool { return s.matrices != nil }

// At returns the matrix of step t. It panics if the matrices are not known.
func (s *Sequence) At(t int) *graph.CSR { return s.matrices[t%s.Networks] }

// Attach returns other, which must have the matrices that s is the digest of.
func (s *Sequence) Attach(other *Sequence) (*Sequence, error) {
	if other.Networks != s.Networks || other.SHA256 != s.SHA256 {
		return nil, fault.New("GraphSequence", nil,
			"its networks are not those of before: the SHA-256 is %s, and was %s", other.SHA256, s.SHA256)
	}
	return other, nil
}

// check finds out whether a sequence, if there is one, is one.
func (s *Sequence) check() error {
	if s != nil && s.Networks < 1 {
		return fault.New("GraphSequence", nil, "there is no network in it")
	}
	return nil
}

// nodes returns n; 0 if the matrices are not known.
func (s *Sequence) nodes() int {
	if s.matrices == nil {
		return 0
	}
	n, _ := s.matrices[0].Dims()
	return n
}
