//go:build unix

package study

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe among the cells, or in the place of study.json or of the lock, makes nobody wait.
func TestPipes(t *testing.T) {
	pipe := func(path string) {
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := filled(t, specOf("x"))
	pipe(filepath.Join(dir, "cells", strings.Repeat("0", 64)+".json"))
	if _, err := Open[place, value](dir, specOf("x")); !errors.Is(err, ErrDamaged) {
		t.Errorf("a cell: %v", err)
	}
	dir = t.TempDir()
	pipe(filepath.Join(dir, "study.json"))
	if _, err := Open[place, value](dir, specOf("x")); !errors.Is(err, ErrDamaged) {
		t.Errorf("study.json: %v", err)
	}
	dir = t.TempDir()
	pipe(filepath.Join(dir, ".lock"))
	if err := Run(context.Background(), open(t, dir, specOf("x")), places("a", 1), compute, Options{}); err != nil {
		t.Errorf(".lock: %v", err)
	}
}
