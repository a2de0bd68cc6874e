package dpps

import (
	"testing"

	"mafalda/protocols/internal/protocoltest"
)

func TestMain(m *testing.M) { protocoltest.Main(m) }
