package serve

import (
	"errors"
	"testing"
)

// Rows come from the user's own server, or root's: another user may listen where it did.
func TestCheckUser(t *testing.T) {
	for _, tc := range []struct {
		there, here int
		ok          bool
	}{{1000, 1000, true}, {0, 1000, true}, {0, 0, true}, {1001, 1000, false}, {65534, 1000, false}, {1000, 0, false}} {
		if err := checkUser(tc.there, tc.here); tc.ok != (err == nil) || err != nil && !errors.Is(err, ErrProof) {
			t.Errorf("user %d for user %d: %v", tc.there, tc.here, err)
		}
	}
}
