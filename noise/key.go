package noise

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Key is the secret that all noise of a node comes from. Whoever knows it can take the noise away. Copies share the
// secret, which lies behind a function: what a crash prints of the stack, and fmt of a struct that has a key in it, are
// addresses alone. Printing, formatting or encoding a key shows none of it.
type Key struct{ secret func() *[keySize]byte }

const keySize = 32

// redacted stands for a key wherever one is printed.
const redacted = "noise.Key(secret)"

// Format prints no secret, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String returns no secret.
func (k Key) String() string { return redacted }

// GoString returns no secret.
func (k Key) GoString() string { return redacted }

// MarshalText returns no secret; JSON, XML and logs use it.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// NewKey returns a key from the operating system's random numbers.
func NewKey() Key {
	var secret [keySize]byte
	rand.Read(secret[:]) // it never fails
	return keyOf(&secret)
}

func keyOf(secret *[keySize]byte) Key { return Key{func() *[keySize]byte { return secret }} }

// SeededKey returns the key of a node for a seed: SHA-256 of "mafalda noise 1", the seed as eight bytes, least
// significant first, and the node's label. It is for simulations and tests: everybody can make it, so it protects
// nothing.
func SeededKey(seed uint64, node string) Key {
	message := binary.LittleEndian.AppendUint64([]byte("mafalda noise 1"), seed)
	hash := sha256.Sum256(append(message, node...))
	return keyOf(&hash)
}

// draw fills the room with chunk c of row t of Z.
func (k Key) draw(r *room, t, c, _ int) {
	r.sum = nil
	k.normalsOf(r, t, c)
}

// normalsOf starts the sampler with chunk c of row t of Z. It depends on key, t and the coordinate alone: coordinates 4096·c,
// 4096·c + 1, ... come from ChaCha8 (C2SP chacha8rand, as in math/rand/v2) with the seed SHA-256(key, t, c), t and c as
// eight bytes each, least significant first, and the quantile function (package rows). Key and seed are passed as slices
// only, never as values (see Key).
func (k Key) normalsOf(r *room, t, c int) {
	message := append(make([]byte, 0, keySize+16), k.secret()[:]...)
	message = binary.LittleEndian.AppendUint64(message, uint64(t))
	message = binary.LittleEndian.AppendUint64(message, uint64(c))
	hash := sha256.New()
	hash.Write(message)
	r.sampler.Start(hash.Sum(message[:0]))
}
