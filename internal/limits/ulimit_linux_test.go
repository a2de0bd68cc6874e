package limits

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Half of what ulimit allows is seen.
func TestUlimit(t *testing.T) {
	if os.Getenv("LIMITS_PRINT") != "" {
		fmt.Println(Memory())
		return
	}
	for _, resource := range []string{"-v", "-d"} {
		c := exec.Command("sh", "-c", `ulimit `+resource+` 4000000 && exec "$0" -test.run=TestUlimit`, os.Args[0])
		c.Env = append(os.Environ(), "LIMITS_PRINT=1", "GOMEMLIMIT=off")
		text, err := c.CombinedOutput()
		var bytes int64
		if _, scan := fmt.Sscan(string(text), &bytes); scan != nil || err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if bytes != 2000000*1024 || !strings.Contains(string(text), "half of ulimit "+resource) {
			t.Errorf("ulimit %s 4000000: %s", resource, text)
		}
	}
}
