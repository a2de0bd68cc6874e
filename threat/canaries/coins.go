package canaries

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"unicode"

	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/internal/strictjson"
)

const (
	coinsFormat = "mafalda canaries 1"
	maxCanaries = 1 << 16
	maxCoins    = 1 << 30 // bytes of the file
)

// Coins says which canaries there are: their directions, the steps in which they are to take part, and, secret, which
// of them do.
type Coins struct {
	Format string  `json:"format"`
	Export string  `json:"export"` // SHA-256 of the manifest
	Node   string  `json:"node"`
	Dim    int     `json:"dim"`
	Clip   float64 `json:"clip"`
	Key    string  `json:"key"`   // secret: directions and coins are made of it
	First  int     `json:"first"` // number of the first canary among the records
	Steps  [][]int `json:"steps"` // steps of every canary, ascending

	// Checksum is of the file up to it (SHA-256).
	Checksum string `json:"sha256"`

	// Replaced says that a canary whose coin is false is replaced by its opposite, as one record by another; else it is
	// left out.
	Replaced bool `json:"replaced,omitempty"`
}

// ReadCoins reads the file of coins that Plan.canaries of the Python package writes.
func ReadCoins(path string) (*Coins, error) {
	c, _, err := readCoins(path)
	return c, err
}

// readCoins is ReadCoins with the checksum of the file.
func readCoins(path string) (*Coins, string, error) {
	var c Coins
	digest, err := readSealed(path, &c, c.check, &c.Checksum)
	return &c, digest, err
}

// readSealed reads a file of JSON whose last key is the checksum of all before it, and returns the checksum of the file.
func readSealed(path string, into any, check func() error, checksum *string) (digest string, err error) {
	content, err := files.Read(path, maxCoins)
	if err != nil {
		return "", err
	}
	err = strictjson.Decode(content, into)
	if err == nil {
		err = check()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	sealed := content[:max(0, bytes.LastIndex(content, []byte(`, "sha256": "`)))]
	if sum := sha256.Sum256(sealed); hex.EncodeToString(sum[:]) != *checksum {
		return "", fmt.Errorf("%s is damaged, or of another version: its checksum is not that of its content", path)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

func (c *Coins) check() error {
	key, err := hex.DecodeString(c.Key)
	switch {
	case strings.ContainsFunc(c.Node, unicode.IsControl):
		return fmt.Errorf("the node's label %q has control characters", c.Node)
	case c.Format != coinsFormat:
		return fmt.Errorf("it is no file of coins: its format is %q, not %q", c.Format, coinsFormat)
	case err != nil || len(key) != 32:
		return fault.New("Key", nil, "[Key] is not 32 bytes in hexadecimal digits")
	case c.Dim < 1 || !(c.Clip > 0) || math.IsInf(c.Clip, 0):
		return fmt.Errorf("dim %d, clip %v: both are above 0", c.Dim, c.Clip)
	case len(c.Steps) < 2 || len(c.Steps) > maxCanaries:
		return fmt.Errorf("%d canaries: from 2 to %d", len(c.Steps), maxCanaries)
	}
	for i, steps := range c.Steps {
		for j, t := range steps {
			if t < 0 || j > 0 && t <= steps[j-1] {
				return fmt.Errorf("the steps of canary %d do not ascend from 0", i)
			}
		}
	}
	return nil
}

// stream returns the random bytes of a number: 0 is for the coins, i+1 for direction i.
func (c *Coins) stream(number uint64) *sha3.SHAKE {
	key, _ := hex.DecodeString(c.Key) // checked
	s := sha3.NewSHAKE128()
	s.Write([]byte(coinsFormat))
	s.Write(key)
	s.Write(binary.LittleEndian.AppendUint64(nil, number))
	return s
}

// Included returns the coins: whether each canary takes part, and not its opposite or nothing.
func (c *Coins) Included() []bool {
	in, bits := make([]bool, len(c.Steps)), make([]byte, (len(c.Steps)+7)/8)
	c.stream(0).Read(bits)
	for i := range in {
		in[i] = bits[i/8]>>(i%8)&1 == 1
	}
	return in
}

// count returns how many canaries take part.
func (c *Coins) count() (in int) {
	for _, yes := range c.Included() {
		if yes {
			in++
		}
	}
	return in
}

// contributions returns how often the direction of each canary is in the sums: 1, or 0, or -1 of one that is replaced.
func (c *Coins) contributions() []float64 {
	all := make([]float64, len(c.Steps))
	for i, yes := range c.Included() {
		if yes {
			all[i] = 1
		} else if c.Replaced {
			all[i] = -1
		}
	}
	return all
}

// signs makes directions, block by block: a direction is its signs over √Dim.
type signs struct {
	streams []*sha3.SHAKE
	last    []byte // byte that was begun, of every stream
	used    int    // bits of it that were handed out; 0 if none was begun
	bits    []byte
	block   []float32 // values of the patterns
}

// newSigns returns the first count directions of the key; those from len(Steps) on are of no canary.
func newSigns(c *Coins, count int) *signs {
	s := &signs{streams: make([]*sha3.SHAKE, count), last: make([]byte, count)}
	for i := range s.streams {
		s.streams[i] = c.stream(uint64(i + 1))
	}
	return s
}

// signsOf has the signs of the bits of every byte, 1 or -1, from the lowest bit on.
var signsOf = func() (all [256][8]float32) {
	for b := range all {
		for k := range all[b] {
			all[b][k] = float32(b>>k&1*2 - 1)
		}
	}
	return all
}()

// next writes the next signs of every direction, in as many columns, a direction a row of dst.
func (s *signs) next(dst []float32, columns int) {
	bytes := (s.used + columns + 7) / 8
	if len(s.bits) < bytes {
		s.bits = make([]byte, bytes)
	}
	for i, stream := range s.streams {
		bits := s.bits[:bytes]
		bits[0] = s.last[i]
		stream.Read(bits[min(s.used, 1):])
		row, at := dst[i*columns:(i+1)*columns], s.used // of the bits
		for ; len(row) > 0 && at%8 != 0; at++ {
			row[0], row = signsOf[bits[at/8]][at%8], row[1:]
		}
		for ; len(row) > 0; at += 8 {
			row = row[copy(row, signsOf[bits[at/8]][:]):]
		}
		s.last[i] = bits[bytes-1]
	}
	s.used = (s.used + columns) % 8
}
