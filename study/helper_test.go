package study

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// place and value are a cell and a result of the tests.
type place struct {
	Row    string  `json:"row"`
	Column float64 `json:"column"`
}

type value struct {
	Text string   `json:"text"`
	Half *float64 `json:"half,omitempty"`
}

func compute(_ context.Context, c place) (value, error) {
	half := c.Column / 2
	return value{c.Row + "<&>", &half}, nil
}

func specOf(inputs ...string) Spec {
	s := Spec{Study: "a test", Summaries: []string{"table.csv"}}
	for i, v := range inputs {
		s.Inputs.Add(fmt.Sprintf("input %d", i), v)
	}
	return s
}

func open(t *testing.T, dir string, spec Spec) *Store[place, value] {
	t.Helper()
	s, err := Open[place, value](dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func places(row string, n int) []place {
	var all []place
	for i := range n {
		all = append(all, place{row, float64(i) / 3})
	}
	return all
}

// summary is a table with a line a cell.
func summary(all []Entry[place, value]) ([]File, error) {
	return []File{{"table.csv", func(w io.Writer) error {
		for _, e := range all {
			if _, err := fmt.Fprintln(w, e.Cell.Row, e.Cell.Column, *e.Result.Half); err != nil {
				return err
			}
		}
		return nil
	}}}, nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// filled returns a folder with cells of rows a and b, and a summary.
func filled(t *testing.T, spec Spec) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "deep", "down")
	s := open(t, dir, spec)
	ctx := context.Background()
	for _, row := range []string{"a", "b"} {
		if err := Run(ctx, s, places(row, 3), compute, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Summarize(ctx, summary); err != nil {
		t.Fatal(err)
	}
	return dir
}
