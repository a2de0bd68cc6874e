package export

import (
	"encoding/json"

	"mafalda/study"
)

// Digest returns the SHA-256 of the manifest as it was read. Of an export that passes CheckHashes it stands for every
// byte: the manifest has the hashes of all files.
func (e *Export) Digest() (string, error) {
	text, err := json.Marshal(e.Manifest)
	if err != nil {
		return "", err
	}
	d := study.NewDigest()
	d.Bytes(text)
	return d.Sum(), nil
}
