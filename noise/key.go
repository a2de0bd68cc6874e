package noise

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	mathrand "math/rand/v2"
	"runtime"
	"sync"
)

// Key is the secret that all noise of a node comes from. Whoever knows it can take the noise away.
type Key [32]byte

// NewKey returns a key from the operating system's random numbers.
func NewKey() (Key, error) {
	var k Key
	_, err := rand.Read(k[:])
	return k, err
}

// SeededKey returns the key of a node for a seed: SHA-256 of "mafalda noise 1", the seed as eight bytes, least significant
// first, and the node's label. It is for simulations and tests: everybody can make it, so it protects nothing.
func SeededKey(seed uint64, node string) Key {
	message := binary.LittleEndian.AppendUint64([]byte("mafalda noise 1"), seed)
	return sha256.Sum256(append(message, node...))
}

// chunk is how many coordinates of a row come from one generator, so that a row can be made by several goroutines.
const chunk = 4096

// normals writes row t of Z, standard normal numbers, to dst. It depends on key, t and the coordinate alone: coordinates
// 4096·c, 4096·c + 1, ... come from ChaCha8 (C2SP chacha8rand, as in math/rand/v2) with the seed SHA-256(key, t, c), t and c as
// eight bytes each, least significant first.
func (k Key) normals(dst []float64, t int) {
	chunks := (len(dst) + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	if workers <= 1 {
		for c := range chunks {
			k.normalsOf(dst, t, c)
		}
		return
	}
	var wg sync.WaitGroup
	for first := range workers {
		wg.Go(func() {
			for c := first; c < chunks; c += workers {
				k.normalsOf(dst, t, c)
			}
		})
	}
	wg.Wait()
}

func (k Key) normalsOf(dst []float64, t, c int) {
	message := binary.LittleEndian.AppendUint64(k[:len(k):len(k)], uint64(t))
	source := mathrand.NewChaCha8(sha256.Sum256(binary.LittleEndian.AppendUint64(message, uint64(c))))
	part := dst[c*chunk : min((c+1)*chunk, len(dst))]
	for i := range part {
		part[i] = normal(source.Uint64())
	}
}
