// Package seeded makes property tests draw the same cases in every run, so that a test that passes once passes always.
// A test package that draws with rapid imports it. RAPID_SEED or -rapid.seed says another seed; 0 is a fresh one.
package seeded

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // has the flag, and reads RAPID_SEED
)

func init() {
	if os.Getenv("RAPID_SEED") == "" {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
}
