package protocoltest

import (
	"flag"
	"os"
	"testing"
)

// Main runs tests without files for failed draws. It is for TestMain.
func Main(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
