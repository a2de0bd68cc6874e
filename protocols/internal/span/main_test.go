package span

import (
	"flag"
	"os"
	"testing"
)

// TestMain writes no files for failed draws.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
