// Command tokens prints how many tokens of Go and Python the repository has, room by room, beside those in .ci/tokens/base.
// What is between the braces of a template counts as Go. Comments, docstrings and line ends do not count, so that joining
// lines or moving code changes nothing. It fails if Go, its tests or python/mafalda have more tokens than base says, or
// lines of Go more than 8.2 each. Run it from the root of the repository; -write makes the file base.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	base  = ".ci/tokens/base"
	dense = 8.2 // tokens a line: more would be cramming
)

// totals are the lines of base that nothing may exceed.
var totals = []string{"Go", "tests", "Python"}

func main() {
	log.SetFlags(0)
	write := flag.Bool("write", false, "make the file "+base)
	flag.Parse()
	counts, lines, err := count(".")
	if err != nil {
		log.Fatal(err)
	}
	before, err := read()
	if err != nil && !*write {
		log.Fatal(err)
	}
	rooms := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
	var text strings.Builder
	for _, name := range rooms {
		fmt.Printf("%8d %+7d  %s\n", counts[name], counts[name]-before[name], name)
		fmt.Fprintf(&text, "%d %s\n", counts[name], name)
	}
	perLine := float64(counts["Go"]) / float64(lines)
	fmt.Printf("%.2f tokens a line of Go\n", perLine)
	if *write {
		if err := os.WriteFile(base, []byte(text.String()), 0o666); err != nil {
			log.Fatal(err)
		}
		return
	}
	failed := perLine > dense
	for _, name := range totals {
		if counts[name] > before[name] {
			failed = true
			fmt.Printf("%s: %d tokens, %d in %s: delete something, or say why not and run go run ./.ci/tokens -write\n", name,
				counts[name], before[name], base)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// read returns the counts of the file base.
func read() (map[string]int, error) {
	text, err := os.ReadFile(base)
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var n int
		var name string
		if _, err := fmt.Sscan(line, &n, &name); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", base, line, err)
		}
		counts[name] = n
	}
	return counts, err
}

// pages are the templates of texts, and actions what is code in them; the braces of either side are a token.
var (
	pages   = regexp.MustCompile(`^cmd/.*/(pages/[^/]*\.txt|page\.html)$`)
	actions = regexp.MustCompile(`(?s)\{\{(.*?)\}\}`)
)

// count returns the tokens of rooms and the totals below a folder, and the lines of Go without tests that have any.
func count(root string) (counts map[string]int, lines int, err error) {
	counts = map[string]int{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path = filepath.ToSlash(path)
		isGo, isPage := strings.HasSuffix(path, ".go"), pages.MatchString(path)
		if !isGo && !isPage && !(strings.HasPrefix(path, "python/mafalda/") && strings.HasSuffix(path, ".py")) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case isPage:
			for _, action := range actions.FindAllSubmatch(text, -1) {
				tokens, busy := ofGo(action[1])
				counts[room(path)] += tokens + 2
				counts["Go"] += tokens + 2
				lines += busy
			}
		case !isGo:
			counts["Python"] += ofPython(text)
		case strings.HasSuffix(path, "_test.go"):
			tokens, _ := ofGo(text)
			counts["tests"] += tokens
		default:
			tokens, busy := ofGo(text)
			counts[room(path)] += tokens
			counts["Go"] += tokens
			lines += busy
		}
		return nil
	})
	return counts, lines, err
}

// room returns the top folder of a path, and two or three levels of those that hold rooms.
func room(path string) string {
	folders := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	levels := map[string]int{"cmd": 3, "internal": 2, "threat": 2, "accounting": 2}[folders[0]]
	return strings.Join(folders[:min(len(folders), max(levels, 1))], "/")
}

// ofGo returns the tokens of a Go file, and the lines that have any.
func ofGo(text []byte) (tokens, lines int) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for last := 0; ; {
		pos, t, literal := s.Scan()
		if t == token.EOF {
			return tokens, lines
		}
		if t == token.SEMICOLON && literal == "\n" {
			continue
		}
		tokens++
		if line := file.Line(pos); line != last {
			lines, last = lines+1, line
		}
	}
}

// pythonToken matches a string, a comment, a line end, a name or number, or an operator.
var pythonToken = regexp.MustCompile(`(?s)[a-zA-Z]{0,2}("""(\\.|[^\\])*?"""|'''(\\.|[^\\])*?'''|"(\\.|[^"\\])*"|'(\\.|[^'\\])*')` +
	`|#[^\n]*|\\\n|\n|\.?\d(e[+-]|[\w.])*|\w+|\*\*=?|//=?|<<=?|>>=?|->|:=|\.\.\.|[-+*/%@&|^=!<>]=|\S`)

// ofPython returns the tokens of a Python file.
func ofPython(text []byte) (tokens int) {
	depth, start := 0, true // of brackets; no token of the statement so far
	for _, t := range pythonToken.FindAll(text, -1) {
		switch first := t[0]; {
		case first == '#' || first == '\\':
			continue
		case first == '\n':
			start = start || depth == 0
			continue
		case bytes.IndexByte([]byte("([{"), first) >= 0:
			depth++
		case bytes.IndexByte([]byte(")]}"), first) >= 0:
			depth--
		}
		last := t[len(t)-1]
		if docstring := start && (last == '"' || last == '\''); !docstring {
			tokens++
		}
		start = false
	}
	return tokens
}
