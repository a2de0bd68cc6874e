package files

import (
	"errors"
	"os"
)

// exchangeByRenames is Exchange for systems that cannot do it in one go: an interruption between its steps leaves what
// was at b in a folder named like a, with .old behind it.
func exchangeByRenames(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}
