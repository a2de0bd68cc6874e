package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExchangeByRenames(t *testing.T) {
	base := t.TempDir()
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	for _, d := range []string{a, b} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, filepath.Base(d)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchangeByRenames(a, b); err != nil || names(t, a)[0] != "b" || names(t, b)[0] != "a" {
		t.Errorf("%v", err)
	}
	if err := exchangeByRenames(filepath.Join(base, "missing"), b); err == nil || names(t, b)[0] != "a" {
		t.Errorf("a failed exchange: %v", err)
	}
}

func TestExchange(t *testing.T) {
	base := t.TempDir()
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	for dir, files := range map[string][]string{a: {"1", "2"}, b: {"3"}} {
		folderWith(t, dir, files...)
	}
	if err := Exchange(a, b); err != nil {
		t.Fatal(err)
	}
	only(t, a, "3")
	only(t, b, "1", "2")
}
