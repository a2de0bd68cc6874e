package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// size of keys, nonces, hashes and tags in bytes.
const size = 32

// fields joins byte strings so that they can be told apart: before each its length, as eight bytes, least significant
// first.
func fields(all ...[]byte) []byte {
	var out []byte
	for _, f := range all {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(f)))
		out = append(out, f...)
	}
	return out
}

// derive is HKDF-SHA256 for 32 bytes.
func derive(secret, salt []byte, info ...[]byte) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, salt, string(fields(info...)), size)
}

// parseHex reads 32 bytes as they are written: 64 digits in lower case.
func parseHex(text string) ([]byte, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != size || hex.EncodeToString(b) != text {
		return nil, fmt.Errorf("%.70q: must be %d hexadecimal digits in lower case", text, 2*size)
	}
	return b, nil
}
