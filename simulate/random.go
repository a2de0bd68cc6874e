package simulate

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// The purposes of random numbers, so that no two things are made of the same ones.
const (
	forSplit = iota
	forShards
	forStart
	forNoise
	forSynthetic
	forAbsence
	forPairs     // in the place of the node: the number of the pair
	forCurvature // likewise: of the probe
)

// random returns the stream of a seed for a purpose and a node. Streams are independent, and the same on every machine.
func random(seed, purpose, node uint64) *rand.Rand {
	text := []byte("mafalda simulate 1")
	for _, v := range []uint64{seed, purpose, node} {
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	return rand.New(rand.NewChaCha8(sha256.Sum256(text)))
}
