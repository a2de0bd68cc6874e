package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// pages are the Markdown files that people read, by their path from the module's root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "python/*.md", "examples/*/*.md", "cmd/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Clean(p)] = string(text)
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d pages found", len(all))
	}
	return all
}

// withoutCode removes what is shown as it is: blocks that are indented or fenced, and code in lines.
func withoutCode(text string) string {
	lines := strings.Split(code.ReplaceAllString(text, ""), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "    ") && (i == 0 || lines[i-1] == "") {
			lines[i] = "" // and so the rest of the block
		}
	}
	return strings.Join(lines, "\n")
}

// anchors are what links may name after #, made of headings as GitHub does.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		words := link.ReplaceAllString(h[1], "]")
		var anchor strings.Builder
		for _, r := range strings.ToLower(words) {
			switch {
			case r == ' ':
				anchor.WriteRune('-')
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127 && unicode.IsLetter(r):
				anchor.WriteRune(r)
			}
		}
		all[anchor.String()] = true
	}
	return all
}

// Relative links lead to files, and what follows # to headings.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	checked := 0
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[1])
				continue
			}
			if anchor != "" && !anchors(all[target])[anchor] {
				t.Errorf("%s: %s has no heading #%s", page, target, anchor)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links found", checked)
	}
}

// A picture that no page shows is one that nobody looks at.
func TestPicturesAreShown(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "images", "*.svg"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	var text strings.Builder
	for _, page := range pages(t) {
		text.WriteString(page)
	}
	for _, p := range found {
		if !strings.Contains(text.String(), "images/"+filepath.Base(p)+")") {
			t.Errorf("%s is on no page", p)
		}
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	got := anchors("# A strategy of its own, for `every` node\n## μ and ε: how much?\ntext\n### [x](y.md) z\n")
	for _, want := range []string{"a-strategy-of-its-own-for-every-node", "μ-and-ε-how-much", "x-z"} {
		if !got[want] {
			t.Errorf("%q is not among %v", want, got)
		}
	}
}
