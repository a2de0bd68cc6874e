package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mafalda/internal/files"
)

// ErrUsed is wrapped by errors about announcements that have begun a run already.
var ErrUsed = errors.New("used before")

// ledgerOf returns the folder that notes what a key has begun. It has an empty file for every announcement that was
// used, its own and its neighbours', named by its hash: of several processes that ask for one file at once the system
// gives it to one, whatever crashes come.
func ledgerOf(path string) string { return path + ".runs" }

// entry is the name of an announcement in a ledger.
func entry(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// checkUnused refuses what is in the ledger, and a ledger that is not there.
func checkUnused(ledger string, body []byte, node string) error {
	if info, err := os.Stat(ledger); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: the folder %s is missing: it says which runs were begun, and without it one could begin "+
			"twice; make a new key", ErrKey, ledger)
	}
	_, err := os.Lstat(filepath.Join(ledger, entry(body)))
	if err == nil {
		return fmt.Errorf("%w: the announcement of %q has begun a run already, whose rows would come again", ErrUsed, node)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// markUsed notes announcements, the own one first: only one process gets past it.
func markUsed(ledger, node string, bodies [][]byte) error {
	for i, body := range bodies {
		f, err := os.OpenFile(filepath.Join(ledger, entry(body)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist) && i == 0:
			return fmt.Errorf("%w: the announcement of %q has just begun a run", ErrUsed, node)
		case errors.Is(err, fs.ErrExist): // by another announcement of this node, in this instant
		case err != nil:
			return fmt.Errorf("noting that a run begins: %w", err)
		default:
			if err := errors.Join(f.Sync(), f.Close()); err != nil {
				return fmt.Errorf("noting that a run begins: %w", err)
			}
		}
	}
	return files.SyncFolder(ledger)
}
