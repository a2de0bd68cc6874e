package files_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mafalda/internal/files"
)

func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "mafalda")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "table.csv")
	row := func(w io.Writer) error { _, err := io.WriteString(w, "1,2\n"); return err }
	fmt.Println(files.WriteFile(path, row, false))
	fmt.Println(errors.Is(files.WriteFile(path, row, false), files.ErrExists))
	// Output:
	// <nil>
	// true
}
