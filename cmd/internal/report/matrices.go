package report

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/cmd/internal/figures"
	"mafalda/strategy"
)

const mostRows = 400 // of a matrix whose entries can be read

// Matrices are C and C⁻¹ of a strategy, to look into.
type Matrices struct {
	ID      string   `json:"id"`
	Steps   int      `json:"steps"` // T
	Rows    int      `json:"rows"`  // that are shown
	Block   int      `json:"block"` // steps in one of them
	Largest float64  `json:"largest"`
	Inverse float64  `json:"largest_inverse"`
	Entries []string `json:"entries"` // C and C⁻¹: the lower triangle by rows, as float32, little-endian, in base64
	Note    string   `json:"-"`
}

// newMatrices packs a strategy. With more steps than mostRows an entry stands for a block: it is the block's entry of
// largest magnitude.
func newMatrices(id string, c strategy.Strategy, perNode bool) (*Matrices, error) {
	var lower, noising mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	steps, _ := lower.Dims()
	m := &Matrices{ID: id, Steps: steps, Block: (steps + mostRows - 1) / mostRows}
	m.Rows = (steps + m.Block - 1) / m.Block
	m.Note = "Numbers are those of the files, to six digits."
	if m.Block > 1 {
		m.Note = fmt.Sprintf("Of %d×%d steps each entry here is the one of largest magnitude of %d×%d.", steps, steps,
			m.Block, m.Block)
	}
	if perNode {
		m.Note += " Nodes have strategies of their own: this is that of the first node."
	}
	m.Entries = make([]string, 2)
	m.Entries[0], m.Largest = m.pack(&lower)
	m.Entries[1], m.Inverse = m.pack(&noising)
	return m, nil
}

func (m *Matrices) pack(t *mat.TriDense) (text string, largest float64) {
	var packed []byte
	for i := range m.Rows {
		for j := range i + 1 {
			v := m.ofBlock(t, i, j)
			largest = math.Max(largest, math.Abs(v))
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(float32(v)))
		}
	}
	return base64.StdEncoding.EncodeToString(packed), largest
}

// ofBlock returns the entry of largest magnitude of a block.
func (m *Matrices) ofBlock(t *mat.TriDense, i, j int) float64 {
	var most float64
	for r := i * m.Block; r < min((i+1)*m.Block, m.Steps); r++ {
		for c := j * m.Block; c < min((j+1)*m.Block, r+1); c++ {
			if v := t.At(r, c); math.Abs(v) > math.Abs(most) {
				most = v
			}
		}
	}
	return most
}

// draw adds a figure to the section, unless it is nil.
func (s *Section) draw(f figures.Named) error {
	if f.Figure == nil {
		return nil
	}
	var svg bytes.Buffer
	if err := f.Figure.WriteAs(&svg, "x.svg", figures.Style{}); err != nil {
		return err
	}
	picture, err := s.inline(f.Name, svg.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	picture.Still = f.Name == "matrices"
	s.Figures = append(s.Figures, picture)
	return nil
}
