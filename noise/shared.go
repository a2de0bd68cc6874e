package noise

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mafalda/export"
	"mafalda/internal/rows"
	"mafalda/noise/keys"
)

// share is the noise that a node shares with its neighbours: row t of Z is
//
//	own·(own row t) + Σ weight_j·(row t shared with j)
//
// in ascending order of the neighbours' indices. The weight of a pair has opposite signs at its two ends, and the rows
// are the same bits, functions of the pair's key, the step and the coordinate alone. All that follows, sums, filters,
// scaling and rounding to a grid, is odd arithmetic: what a pair adds alone is opposite to the last bit at both ends.
type share struct {
	own        float64
	neighbours []shared
	check      bool // a run of the shared rows alone, to compare the two ends
	export     *export.Export
}

// shared is one neighbour.
type shared struct {
	label, run string
	weight     float64
	key        Key
}

// newShare returns what node i of an export shares. Keys are to come.
func newShare(e *export.Export, i int) *share {
	s := &share{own: e.Shared.Own[i], export: e}
	for _, other := range e.Shared.Neighbours(i) {
		s.neighbours = append(s.neighbours, shared{label: other.Label, weight: other.Weight})
	}
	return s
}

// checkWorst computes again what attackers learn of any node at most: if it is more than the manifest says, the noise
// would protect less than claimed.
func checkWorst(e *export.Export) error {
	space := e.Manifest.Space
	attackers, err := e.Manifest.Attackers(e.Shared.Labels)
	if err != nil {
		return unusable(err)
	}
	worst, err := e.Shared.WorstWithin(context.Background(), attackers, space.Worst.Value)
	if err == nil && !(worst.Value <= space.Worst.Value*(1+1e-12)) {
		err = fmt.Errorf("what attackers learn of node %q is %v, the manifest says %v at most",
			e.Shared.Labels[worst.Victim], worst.Value, space.Worst.Value)
	}
	return unusable(err)
}

// draw fills the room with chunk c of row t of Z, n numbers; own is the key of the node's own rows.
func (s *share) draw(r *room, own Key, t, c, n int) {
	z := r.z[:n]
	clear(z)
	if s.own > 0 && !s.check {
		own.normalsOf(r, t, c)
		r.sampler.RestTo(z)
		rows.ScaleTo(z, s.own, z)
	}
	for _, with := range s.neighbours {
		with.key.normalsOf(r, t, c)
		for i := 0; i < n; i += rows.Block {
			part := z[i:min(i+rows.Block, n)]
			rows.AddScaled(part, with.weight, r.sampler.Next(len(part)))
		}
	}
	r.sum = z
}

// setSeed gives every pair its key for a seed.
func (s *share) setSeed(seed uint64, node string) {
	for i, n := range s.neighbours {
		s.neighbours[i].key = SeededPairKey(seed, node, n.label)
	}
}

// SeededPairKey returns the key of the rows that two nodes share, for a seed: SHA-256 of "mafalda noise pair 1", the
// seed, the length of the smaller label in bytes, that label and the other one; numbers as eight bytes, least
// significant first. Like SeededKey it protects nothing.
func SeededPairKey(seed uint64, a, b string) Key {
	message := binary.LittleEndian.AppendUint64([]byte("mafalda noise pair 1"), seed)
	first, second := min(a, b), max(a, b)
	message = binary.LittleEndian.AppendUint64(message, uint64(len(first)))
	hash := sha256.Sum256(append(append(message, first...), second...))
	return keyOf(&hash)
}

// takeKeys takes the keys of a run; neighbours that are not in a run to check are left out.
func (s *share) takeKeys(m *keys.Meeting) {
	s.check = m.Check
	var with []shared
	for _, n := range s.neighbours {
		for _, p := range m.Pairs {
			if p.Neighbour == n.label {
				n.run, n.key = p.Run, keyOf(p.Secret())
				with = append(with, n)
			}
		}
	}
	s.neighbours = with
}

// pairs is what a state keeps of the keys.
func (s *share) pairs() []statePair {
	var all []statePair
	for _, n := range s.neighbours {
		if n.key.secret != nil {
			all = append(all, statePair{n.label, n.run, hex.EncodeToString(n.key.secret()[:])})
		}
	}
	return all
}

// adopt takes the keys of a state. All neighbours must have one, but for a check.
func (s *share) adopt(h stateHead) error {
	s.check = h.Check
	if h.Check {
		s.neighbours = slices.DeleteFunc(s.neighbours, func(n shared) bool {
			return !slices.ContainsFunc(h.Pairs, func(p statePair) bool { return p.Neighbour == n.label })
		})
	}
	if len(h.Pairs) != len(s.neighbours) {
		return errors.New("of other neighbours")
	}
	for i, p := range h.Pairs {
		n := &s.neighbours[i]
		if p.Neighbour != n.label {
			return errors.New("of other neighbours")
		}
		secret, err := hex.DecodeString(p.Key)
		if err != nil || len(secret) != keySize || p.Key != strings.ToLower(p.Key) {
			return errors.New("damaged")
		}
		n.run, n.key = p.Run, keyOf((*[keySize]byte)(secret))
	}
	return nil
}
