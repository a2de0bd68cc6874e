package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// Wording is counted, and each count only falls: a limit is lowered when its count is, and never raised.
//
// A field's comment is a noun phrase, readable without the line above it. A function is named by a verb, or by the noun
// that it returns. Go's own habits may stay: options, constructors and conversions that begin with With, Without, By, For,
// From or To; exported constructors Of…, accessors At, After (as time.After) and About, and Over of a fraction.
func TestWordingImproves(t *testing.T) {
	limits := map[string]int{"field": 12, "preposition": 36, "participle": 114, "phrase": 27}
	found := map[string][]string{}
	note := func(f source, at ast.Node, kind, text string) {
		found[kind] = append(found[kind], fmt.Sprintf("%s:%d: %s", f.path, f.set.Position(at.Pos()).Line, text))
	}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, c := range f.syntax.Comments {
			for _, phrase := range detours.FindAllString(c.Text(), -1) {
				note(f, c, "phrase", phrase)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if kind := misnomer(n.Name.Name); kind != "" {
					note(f, n, kind, n.Name.Name)
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, c := range []*ast.CommentGroup{field.Doc, field.Comment} {
						if prepositions[strings.ToLower(word.FindString(c.Text()))] {
							note(f, c, "field", c.Text())
						}
					}
				}
			}
			return true
		})
	}
	for kind, limit := range limits {
		if places := found[kind]; len(places) > limit {
			t.Errorf("%d places of the kind %q, at most %d allowed:\n%s", len(places), kind, limit, strings.Join(places, "\n"))
		} else {
			t.Logf("%s: %d of at most %d", kind, len(places), limit)
		}
	}
}

var (
	word    = regexp.MustCompile(`^[A-Za-z]+`)
	detours = regexp.MustCompile(`(?i)\b(so many|nobody|somebody|whoever|that there (is|are)|there is none)\b`)

	prepositions = set(`of on at by from to with without beside beyond until in into over under per than as between among for after
		before within below above across along against about around behind`)
	openings   = set("with without by for from to") // unexported ones need another word
	exported   = set("of at over after about")
	nouns      = set("need seed feed speed embed string ceiling")
	participle = regexp.MustCompile(`^[a-z]+(ed|ing)$`)
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// misnomer returns "preposition" or "participle" if that is what a function is named by, and "" for a good name.
func misnomer(name string) string {
	if participle.MatchString(name) && !nouns[name] {
		return "participle"
	}
	first := strings.ToLower(name)
	if end := strings.IndexFunc(name[1:], unicode.IsUpper); end >= 0 {
		first = first[:end+1]
	}
	if !prepositions[first] || openings[first] && len(first) < len(name) || (openings[first] || exported[first]) && ast.IsExported(name) {
		return ""
	}
	return "preposition"
}
