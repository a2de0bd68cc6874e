package study

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"
)

// Input is one of the things that all results of a study depend on.
type Input struct {
	Name  string `json:"name"`
	Value string `json:"value"` // value of the input, or the SHA-256 of its bytes
}

// Inputs are all that results depend on besides their cells, in any order that is always the same.
type Inputs []Input

// Add puts another input to the others. Values are compared as fmt prints them.
func (in *Inputs) Add(name string, value any) {
	*in = append(*in, Input{name, fmt.Sprint(value)})
}

// Key is the SHA-256 of a study and its inputs.
type Key [sha256.Size]byte

func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Key hashes names and values, each with its length, so that no two lists have the same bytes.
func (in Inputs) Key(study string) Key {
	d := NewDigest()
	d.String(study)
	d.Int(len(in))
	for _, i := range in {
		d.String(i.Name)
		d.String(i.Value)
	}
	return d.key()
}

// differences names the inputs that differ from before, with both values, shortened.
func (in Inputs) differences(before Inputs) []string {
	var all []string
	old := map[string]string{}
	for _, i := range before {
		old[i.Name] = i.Value
	}
	for _, i := range in {
		was, there := old[i.Name]
		switch {
		case !there:
			all = append(all, i.Name+" is new")
		case was != i.Value:
			all = append(all, fmt.Sprintf("%s is %s there and %s here", i.Name, short(was), short(i.Value)))
		}
		delete(old, i.Name)
	}
	for _, i := range before {
		if _, left := old[i.Name]; left {
			all = append(all, i.Name+" is gone")
		}
	}
	return all
}

// short cuts long values and hashes to what a message has room for.
func short(value string) string {
	const most, start = 60, 12
	runes := []rune(value)
	switch {
	case value == "":
		return "nothing"
	case len(value) == 2*sha256.Size && strings.Trim(value, "0123456789abcdef") == "":
		return value[:start] + "…"
	case len(runes) > most:
		return string(runes[:most]) + "…"
	}
	return value
}

// A Digest hashes data of several kinds, each with its kind and length, so that different data have different
// bytes. It is for inputs whose values are too long to write down.
type Digest struct{ hash hash.Hash }

// NewDigest returns the digest of nothing.
func NewDigest() *Digest { return &Digest{sha256.New()} }

func (d *Digest) number(kind byte, v uint64) {
	var b [9]byte
	b[0] = kind
	binary.LittleEndian.PutUint64(b[1:], v)
	d.hash.Write(b[:]) // a hash takes everything
}

// Int adds a whole number.
func (d *Digest) Int(v int) { d.number('i', uint64(int64(v))) }

// Float adds a number with all its bits.
func (d *Digest) Float(v float64) { d.number('f', math.Float64bits(v)) }

// String adds a text.
func (d *Digest) String(s string) {
	d.number('s', uint64(len(s)))
	d.hash.Write([]byte(s))
}

// Strings adds a list of texts.
func (d *Digest) Strings(all []string) {
	d.number('l', uint64(len(all)))
	for _, s := range all {
		d.String(s)
	}
}

// Lists adds lists of whole numbers.
func (d *Digest) Lists(all [][]int) {
	for _, list := range all {
		d.Int(len(list))
		for _, v := range list {
			d.Int(v)
		}
	}
}

// Bytes adds bytes.
func (d *Digest) Bytes(b []byte) {
	d.number('b', uint64(len(b)))
	d.hash.Write(b)
}

// Sum returns the SHA-256 of all that was added, in hexadecimal digits.
func (d *Digest) Sum() string { return d.key().String() }

func (d *Digest) key() (k Key) {
	d.hash.Sum(k[:0])
	return k
}
