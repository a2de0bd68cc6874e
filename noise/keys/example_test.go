package keys_test

import (
	"fmt"
	"strings"

	"mafalda/noise/keys"
)

// A node has a key; what others may know of it is a line of a file that all nodes have.
func ExampleNew() {
	key, err := keys.New("Medici")
	if err != nil {
		fmt.Println(err)
		return
	}
	line := key.Public().Line() // key.Save writes the private one
	fmt.Println(strings.HasPrefix(line, `"Medici",`), len(key.Public().Fingerprint()))
	// Output: true 39
}
