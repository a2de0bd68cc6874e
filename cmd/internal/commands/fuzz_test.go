package commands

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// Values are one finite number for every node, or refused in a line.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"a 1\nb 2\nc -3e0\n", "# x\na,1\nb;2\nc\t3", "a 1\na 2\n", "a 1\nb nan\n", "a 1 2\n",
		"\xef\xbb\xbfa 1\r\nb 2\r\nc 3\r\n", "\x1b[1m 1\n"} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		values, err := (&averageFlags{values: path}).startValues([]string{"a", "b", "c"})
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), path) ||
				strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Fatalf("%q: error %q", text, err)
			}
			return
		}
		for i, v := range values {
			if v-v != 0 {
				t.Fatalf("%q: node %d has %v", text, i, v)
			}
		}
	})
}
