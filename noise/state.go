package noise

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stateHead is what never changes in a state file.
type stateHead struct {
	Format string  `json:"format"`
	Key    string  `json:"key"`    // secret
	Export string  `json:"export"` // SHA-256 of the manifest
	Node   string  `json:"node"`
	Dim    int     `json:"dim"`
	Std    float64 `json:"noise_std"`
	Grid   float64 `json:"grid,omitempty"`
	Seeded bool    `json:"seeded,omitempty"`

	Check bool        `json:"check,omitempty"`
	Pairs []statePair `json:"pairs,omitempty"` // pairs by ascending index of the neighbour; only in format 3
}

// statePair is what a node needs of a neighbour.
type statePair struct {
	Neighbour string `json:"neighbour"`
	Run       string `json:"run,omitempty"` // identifier of the pair's run
	Key       string `json:"key"`           // secret
}

const (
	stateFormat  = "mafalda noise state 2"
	sharedFormat = "mafalda noise state 3" // of noise that is shared
)

// head returns what the state file says of this stream.
func (s *Stream) head() stateHead {
	h := stateHead{Format: stateFormat, Key: hex.EncodeToString(s.key.secret()[:]), Export: s.export, Node: s.node,
		Dim: s.dim, Std: s.std,
		Grid: s.grid, Seeded: s.seed != nil}
	if s.share != nil {
		h.Format, h.Check, h.Pairs = sharedFormat, s.share.check, s.share.pairs()
	}
	return h
}

// adopt takes the key of the state, if all else is of this stream.
func (s *Stream) adopt() error {
	var earlier stateHead
	if err := json.Unmarshal(s.disk.state.head, &earlier); err != nil ||
		earlier.Format != stateFormat && earlier.Format != sharedFormat {
		return errors.New("none")
	}
	if s.share != nil && s.seed == nil {
		if err := s.share.adopt(earlier); err != nil {
			return err
		}
	}
	key, err := hex.DecodeString(earlier.Key)
	if err != nil || len(key) != keySize || s.place().Issued > s.steps {
		return errors.New("damaged")
	}
	mine := s.head()
	if s.seed != nil && earlier.Seeded && earlier.Key != mine.Key {
		return errors.New("of another seed")
	}
	mine.Key = earlier.Key
	if text, err := json.Marshal(mine); err != nil || !slices.Equal(text, s.disk.state.head) {
		return fmt.Errorf("of another %s", mine.difference(earlier))
	}
	copy(s.key.secret()[:], key)
	return nil
}

// difference names what two states differ in.
func (h stateHead) difference(other stateHead) string {
	var what []string
	for name, same := range map[string]bool{"export": h.Export == other.Export, "node": h.Node == other.Node,
		"model":       h.Dim == other.Dim,
		"noise level": h.Std == other.Std, "grid": h.Grid == other.Grid, "kind of key": h.Seeded == other.Seeded,
		"kind of noise": h.Format == other.Format} {
		if !same {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	return strings.Join(what, ", ")
}
