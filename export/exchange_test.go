package export

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
	a, b := export(t), export(t)
	if err := npyTo(filepath.Join(a, "mark"), matrixC); err != nil {
		t.Fatal(err)
	}
	if err := exchange(a, b); err != nil || len(names(t, b)) != 4 || len(names(t, a)) != 3 {
		t.Errorf("%v, %v, %v", err, names(t, a), names(t, b))
	}
}
