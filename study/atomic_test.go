package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever gives a folder that cannot be made reads its name, and not only the name of a temporary file.
func TestUnwritableFolderIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	asked := filepath.Join(file, "results") // nobody can make a folder in a file
	if err := checkWritable(asked); err == nil || !strings.Contains(err.Error(), "cannot write to "+asked+": ") {
		t.Errorf("checkWritable(%q) = %v: the folder is not named", asked, err)
	}
}
