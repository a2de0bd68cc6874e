package document

import (
	"crypto/rand"
	"embed"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"mafalda/cmd/internal/terminal"
)

// A page is the text of a document with holes, as package text/template has them. Every line says one thing:
//
//	[document audit] What an attack reaches.           the kind of the document, and its lead
//	graph          {{.Network.Line}}                   a fact: its name, two blanks or more, and what is said of it,
//	               whose other lines are indented
//	{{if .Own}}                                        control stands alone on its line
//	a line \
//	  goes on after a backslash
//	[width 19]                                         facts begin in this column of a terminal
//	[gap]                                              another list of facts begins
//	[secret] computed {{.Value}}                       text behind the last fact, on the terminal alone
//	[line] The bounds compare.                         a line of text between facts and tables
//	[table 1] Losses                                   a table whose first column has words
//	[row]                                              a row of it: the lines below are names of columns with what is in them
//	[facts]                                            facts again
//	[summary]                                          the lines below are of the summary; [warnings], [certified] and
//	                                                   [not covered] begin the other lists
//
// What is empty is left out, but for cells. What fills a hole stays in its place, whatever it holds: nothing that a file says
// begins a line of a page.

// Kind is a page with the type of the data that it is filled with.
type Kind struct {
	Data     reflect.Type
	Template func() *template.Template
}

var kinds = map[string]Kind{}

// Kinds returns all pages of the program by their names.
func Kinds() map[string]Kind { return kinds }

// shared has what pages of several folders use.
//
//go:embed pages
var shared embed.FS

// Page returns what fills the page with this name in the folder pages, which stands there beside others that it may use.
func Page[T any](pages embed.FS, name string) func(T) *Document {
	parsed := sync.OnceValue(func() *template.Template {
		all := template.New("").Funcs(Functions())
		for _, folder := range []embed.FS{shared, pages} {
			entries, _ := folder.ReadDir("pages") // it is embedded
			for _, e := range entries {
				text, _ := folder.ReadFile("pages/" + e.Name())
				template.Must(all.New(strings.TrimSuffix(e.Name(), ".txt")).Parse(marked(string(text))))
			}
		}
		return all.Lookup(name)
	})
	kinds[name] = Kind{reflect.TypeFor[T](), parsed}
	return func(data T) *Document {
		var text strings.Builder
		if err := parsed().Execute(&text, data); err != nil {
			panic(err) // a page is wrong
		}
		d := New("", "")
		d.fill(text.String())
		return d
	}
}

// Functions returns the functions that all pages have. Of numbers "number" and "up" round up, "down" rounds down, and
// "near" to the nearest, as package terminal says.
func Functions() template.FuncMap {
	return template.FuncMap{
		"number": terminal.NumberUp, "near": terminal.Number, "up": terminal.DecimalUp, "down": terminal.DecimalDown,
		"given": terminal.AsGiven, "count": terminal.Count, "bytes": terminal.BytesText, "grouped": terminal.Grouped,
		"grouping": terminal.GroupedWords, "plain": terminal.PlainLine, "join": strings.Join, "upper": strings.ToUpper,
		"over":  func(a, b float64) float64 { return a / b },
		"times": func(a, b float64) float64 { return a * b },
		"minus": func(a, b float64) float64 { return a - b },
		"root":  math.Sqrt, "size": math.Abs, "largest": slices.Max[[]float64], "replace": strings.ReplaceAll,
		"fewer": func(n, m int) int { return n - m },
		"value": func(v float64) float64 { return v },
		"float": func(n int) float64 { return float64(n) },
	}
}

// Marks of a line, of what a fact says, and of a directive; nobody who writes a file that the program reads knows them.
var (
	lineMark      = rand.Text()
	valueMark     = rand.Text()
	directiveMark = rand.Text()
)

var (
	control = regexp.MustCompile(`^\{\{(if|else|end|range|with|template|define|break|continue|\$\w+ :?=|/)[^}]*\}\}$`)
	joined  = regexp.MustCompile(` *\\\n *`)
	columns = regexp.MustCompile(`  +`)
)

// marked returns the template of a page, with marks at what its lines are.
func marked(page string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(joined.ReplaceAllString(page, " "), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || control.MatchString(text):
			b.WriteString(text)
		case line != text && strings.HasPrefix(line, " "):
			b.WriteString("\n" + text)
		case text[0] == '[':
			b.WriteString(lineMark + directiveMark + text[1:])
		default:
			if at := columns.FindStringIndex(text); at != nil {
				text = text[:at[0]] + valueMark + text[at[1]:]
			}
			b.WriteString(lineMark + text)
		}
	}
	return b.String()
}

// fill fills a document with the lines of a page whose holes are filled.
func (d *Document) fill(text string) {
	list, table := "facts", (*Table)(nil)
	for _, line := range strings.Split(text, lineMark)[1:] {
		text, directive := strings.CutPrefix(line, directiveMark)
		if !directive {
			d.add(list, table, text)
			continue
		}
		word, text, _ := strings.Cut(text, "]")
		word, argument, _ := strings.Cut(word, " ")
		text = strings.TrimSpace(text)
		switch word {
		case "document":
			d.Kind, d.Lead = argument, text
		case "gap":
			d.Blocks = append(d.Blocks, Block{Facts: []Fact{}})
		case "width":
			d.width, _ = strconv.Atoi(argument)
		case "line":
			d.Blocks = append(d.Blocks, Block{Text: text})
		case "secret":
			facts := d.Blocks[len(d.Blocks)-1].Facts
			facts[len(facts)-1].Secret = text
		case "table":
			words, _ := strconv.Atoi(argument)
			table = &Table{Caption: text, Words: words}
		case "row":
			if table.Rows == nil {
				d.Blocks = append(d.Blocks, Block{Table: table})
			}
			table.Rows = append(table.Rows, nil)
			list = word
		default:
			list = word
		}
	}
}

// add adds a line to a list, or a cell to a table.
func (d *Document) add(list string, table *Table, line string) {
	name, text, _ := strings.Cut(line, valueMark)
	switch {
	case list == "row":
		last := len(table.Rows) - 1
		if last == 0 {
			table.Header = append(table.Header, name)
		}
		table.Rows[last] = append(table.Rows[last], text)
	case list == "facts" && text != "":
		d.Fact(name, "%s", text)
	case list == "summary" && text != "":
		d.Summarize(name, "%s", text)
	case name != "":
		to := map[string]*[]string{"warnings": &d.Warnings, "certified": &d.Certified, "not": &d.NotCovered}[list]
		if to != nil {
			*to = append(*to, name)
		}
	}
}
