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
}

const stateFormat = "mafalda noise state 2"

// head describes this stream.
func (d *Durable) head() stateHead {
	return stateHead{Format: stateFormat, Key: hex.EncodeToString(d.key.secret()[:]), Export: d.export, Node: d.node,
		Dim: d.dim, Std: d.std,
		Grid: d.grid, Seeded: d.seed != nil}
}

// adopt takes the key of the state, if all else is of this stream.
func (d *Durable) adopt() error {
	var earlier stateHead
	if err := json.Unmarshal(d.state.head, &earlier); err != nil || earlier.Format != stateFormat {
		return errors.New("none")
	}
	key, err := hex.DecodeString(earlier.Key)
	if err != nil || len(key) != keySize || d.state.place.Issued > d.steps {
		return errors.New("damaged")
	}
	mine := d.head()
	if d.seed != nil && earlier.Seeded && earlier.Key != mine.Key {
		return errors.New("of another seed")
	}
	mine.Key = earlier.Key
	if text, err := json.Marshal(mine); err != nil || !slices.Equal(text, d.state.head) {
		return fmt.Errorf("of another %s", mine.difference(earlier))
	}
	copy(d.key.secret()[:], key)
	return nil
}

// difference names what differs.
func (h stateHead) difference(other stateHead) string {
	var what []string
	for name, same := range map[string]bool{"export": h.Export == other.Export, "node": h.Node == other.Node,
		"model":       h.Dim == other.Dim,
		"noise level": h.Std == other.Std, "grid": h.Grid == other.Grid, "kind of key": h.Seeded == other.Seeded} {
		if !same {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	return strings.Join(what, ", ")
}
