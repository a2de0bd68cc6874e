package participation

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	mathrand "math/rand/v2"

	"mafalda/internal/fault"
)

// KeySize is the number of bytes of a Key.
const KeySize = 32

// Key is the secret that a node's batches are drawn from. Whoever knows it knows who takes part when, and sampling then
// amplifies nothing. A key is for one node and one training: it is drawn once, kept as secret as the records for as
// long as the training may go on and its outputs matter, and never used again, nor for noise. Copies share the secret,
// which lies behind a function, so that fmt of a struct that has a key in it shows an address alone. Printing,
// formatting or encoding a key shows none of it; Bytes does.
type Key struct{ secret func() *[KeySize]byte }

// redactedKey stands for a key wherever one is printed.
const redactedKey = "participation.Key(secret)"

// Format prints no secret, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedKey) }

// String returns no secret.
func (k Key) String() string { return redactedKey }

// GoString returns no secret.
func (k Key) GoString() string { return redactedKey }

// MarshalText returns no secret; JSON, XML and logs use it.
func (k Key) MarshalText() ([]byte, error) { return []byte(redactedKey), nil }

// NewKey returns a key from the operating system's random numbers.
func NewKey() Key {
	var secret [KeySize]byte
	rand.Read(secret[:]) // it never fails
	return keyOf(&secret)
}

// SeededKey returns the key of a node for a seed: SHA-256 of "mafalda sampling seed 1", the seed as eight bytes, least
// significant first, and the node's label. It is for simulations and tests: everybody can make it, so it protects
// nothing.
func SeededKey(seed uint64, node string) Key {
	message := binary.LittleEndian.AppendUint64([]byte("mafalda sampling seed 1"), seed)
	hash := sha256.Sum256(append(message, node...))
	return keyOf(&hash)
}

// KeyFromBytes returns the key whose Bytes these KeySize ones are, which are copied. The error is a fault.Argument.
func KeyFromBytes(secret []byte) (Key, error) {
	if len(secret) != KeySize {
		return Key{}, fault.New("Key", nil, "must have %d bytes, not %d", KeySize, len(secret))
	}
	var copied [KeySize]byte
	copy(copied[:], secret)
	return keyOf(&copied), nil
}

// Bytes returns a copy of the secret itself, to be kept where only its owner can read.
func (k Key) Bytes() []byte { return append([]byte(nil), k.secret()[:]...) }

func keyOf(secret *[KeySize]byte) Key { return Key{func() *[KeySize]byte { return secret }} }

// A purpose is what random numbers are drawn for, so that no two things are made of the same ones.
type purpose uint64

const (
	forGroups          purpose = iota // of Poisson sampling: who is in which group
	forPoisson                        // who takes part in a step
	forBins                           // who is in which bin
	forBatches                        // who is in which batch of fixed ones
	forMinSep                         // who takes part in a step, if it may
	forAllocatedGroups                // of random allocation: who is in which group
	forAllocation                     // which step of a block a record takes part in
)

// drawn is how many records' numbers come from one generator.
const drawn = 4096

// eachNumber calls f with a number of 64 independent uniform bits for every record below records. The number depends on
// key, purpose, round (a step, or an attempt) and record alone: records 4096·c, 4096·c + 1, ... take theirs from
// ChaCha8 (C2SP chacha8rand, as in math/rand/v2) with the seed SHA-256("mafalda sampling 1", key, purpose, round, c),
// the last three as eight bytes each, least significant first. No other use of SHA-256 in this module has such an
// input.
func (k Key) eachNumber(of purpose, round, records int, f func(record int, number uint64)) {
	for first := 0; first < records; first += drawn {
		source := k.generator(of, round, first/drawn)
		for record := first; record < min(first+drawn, records); record++ {
			f(record, source.Uint64())
		}
	}
}

// number returns the one that each hands to f for a record.
func (k Key) number(of purpose, round, record int) (number uint64) {
	source := k.generator(of, round, record/drawn)
	for range record%drawn + 1 {
		number = source.Uint64()
	}
	return number
}

// generator makes a ChaCha8 from the binary form that NewChaCha8 would have for the seed at its end: key and seed are
// passed as slices only, never as values (see Key).
func (k Key) generator(of purpose, round, block int) *mathrand.ChaCha8 {
	message := append([]byte("mafalda sampling 1"), k.secret()[:]...)
	for _, v := range []int{int(of), round, block} {
		message = binary.LittleEndian.AppendUint64(message, uint64(v))
	}
	hash := sha256.New()
	hash.Write(message)
	var source mathrand.ChaCha8
	if err := source.UnmarshalBinary(hash.Sum([]byte("chacha8:\x00\x00\x00\x00\x00\x00\x00\x00"))); err != nil {
		panic(err) // a Go with another binary form, which the tests would have found
	}
	return &source
}
