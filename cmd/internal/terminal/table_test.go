package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestGrouped(t *testing.T) {
	for text, want := range map[string]string{"1234": "1234", "12345": "12,345", "-1234567.25": "-1,234,567.25",
		"121161605": "121,161,605", "0.123456": "0.123456", "1e+09": "1e+09", "12345 ± 3": "12345 ± 3", "": "", "-": "-"} {
		if got := groupedText(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestGroupedWords(t *testing.T) {
	const text = `1828775.85668 is proven (-12345), of node "10482" and 0a12345; 99999. 1234, file12345 12345/2`
	const want = `1,828,775.85668 is proven (-12,345), of node "10482" and 0a12345; 99,999. 1234, file12345 12345/2`
	if got := GroupedWords(text); got != want {
		t.Errorf("%s", got)
	}
}

// A table that is too wide gets headings of several lines, none of which is wider than it was, or becomes a list.
func TestTablesFit(t *testing.T) {
	header := []string{"who", "a long heading of a column", "another"}
	rows := [][]string{{"a", "1", "2"}, {"b", "", "4"}}
	names := stacked(header, rows)
	if names[1] != "a\nlong\nheading\nof\na\ncolumn" || names[0] != "who" {
		t.Errorf("%q", names)
	}
	var list bytes.Buffer
	wide, narrow := renderTable(header, rows, true), renderTable(names, rows, true)
	if strings.Index(narrow, "\n") >= strings.Index(wide, "\n") || !strings.Contains(narrow, "heading") {
		t.Errorf("%s%s", wide, narrow)
	}
	if err := listed(&list, header, rows); err != nil {
		t.Fatal(err)
	}
	want := `who                         a
a long heading of a column  1
another                     2

who                         b
another                     4
`
	if list.String() != want {
		t.Errorf("%s", &list)
	}
}
