package study

import (
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkCell is what a cell costs besides computing it: looking for it, and keeping it on the disk.
func BenchmarkCell(b *testing.B) {
	s, err := Open[place, value](filepath.Join(b.TempDir(), "grid"), specOf("x"))
	if err != nil {
		b.Fatal(err)
	}
	cells := places("a", b.N)
	b.ResetTimer()
	if err := Run(context.Background(), s, cells, compute, Options{}); err != nil {
		b.Fatal(err)
	}
}
