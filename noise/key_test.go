package noise

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestKeyIsNotPrinted: whatever prints a key, or what holds one, shows none of it.
func TestKeyIsNotPrinted(t *testing.T) {
	dir, path, _ := begun(t, 0)
	d := reopen(t, dir, State{Path: path})
	text, err := json.Marshal(d.key)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{string(text), d.key.String(), d.key.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		all = append(all, fmt.Sprintf(verb, d.key), fmt.Sprintf(verb, &d.key), fmt.Sprintf(verb, *d), fmt.Sprintf(verb,
			d), fmt.Sprintf(verb, *d),
			fmt.Sprintf(verb, []Key{d.key}), fmt.Sprintf(verb, d))
	}
	secret := hex.EncodeToString(d.key.secret()[:])
	numbers := strings.Trim(fmt.Sprint(d.key.secret()[:4]), "[]")
	for _, s := range all {
		if strings.Contains(strings.ToLower(s), secret[:8]) || strings.Contains(s, numbers) {
			t.Errorf("the key is in %q", s)
		}
	}
}
