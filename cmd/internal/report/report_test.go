package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mafalda/cmd/internal/document"
)

const markup = `<script>alert("x")</script>`

// folder writes files into a new folder.
func folder(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for file, content := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// accountOf is the document of an account of all nodes of a ring.
func accountOf(labels ...string) *document.Document {
	d := document.New("account", "What an attacker learns.")
	d.Version, d.Cells = "old", len(labels)
	d.Fact("graph", "x.edges")
	d.Table(document.Table{Caption: "By distance", Header: []string{"distance", "most"}, Rows: [][]string{{"1", "1.2346"}}})
	m := document.NewMap("account", labels)
	n := len(labels)
	for i, attacker := range labels {
		a := document.Attacker{Name: attacker, Mu: make([]float64, n), Hops: make([]int, n)}
		for j, victim := range labels {
			at, _ := m.Index(victim)
			a.Hops[at] = min((i-j+n)%n, (j-i+n)%n)
			a.Mu[at] = 1.5
			if a.Hops[at] == 0 {
				a.Self, a.Mu[at] = append(a.Self, at), -1
			}
		}
		m.Attackers = append(m.Attackers, a)
		u, _ := m.Index(attacker)
		v, _ := m.Index(labels[(i+1)%n])
		m.Edges = append(m.Edges, [2]int{u, v})
	}
	if err := m.Place(); err != nil {
		panic(err)
	}
	d.Map = m
	return d
}

func page(t *testing.T, dirs ...string) string {
	t.Helper()
	r, err := Make(context.Background(), dirs, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever markup a folder has in labels, names or pictures, the page has two scripts and no handler.
func TestMarkupIsText(t *testing.T) {
	a := accountOf(markup, `"onload=alert(1)`, "</script><img src=x onerror=alert(1)>", "b")
	a.Fact(markup, markup)
	a.Warn(markup)
	account := folder(t, "<b>account", map[string]string{"document.json": jsonOf(t, a), "account.json": "{}", "exposure.svg": svgWith(markup)})
	table := folder(t, "table", map[string]string{"x.csv": "a,b\n" + `"` + strings.ReplaceAll(markup, `"`, `""`) + `",2` + "\n",
		"x.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)" style="position:fixed"><script>alert(1)</script>` +
			`<foreignObject><p>hidden</p></foreignObject><a href="javascript:alert(1)"><text>gone</text></a>` +
			`<g id="one" onclick="alert(1)"><path d="M0,0" style="fill:url(http://x/y)"/></g>` +
			`<image href="http://x/y.png"/><image href="data:image/svg+xml;base64,AAAA"/><text>kept &lt;i&gt;</text></svg>`})
	got := page(t, account, table)
	if n := strings.Count(strings.ToLower(got), "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	for _, never := range []string{"<img", "<b>", "<foreignobject", "javascript:", "http://x", "image/svg+xml", "hidden</p",
		"position:fixed", ">gone<", `id="one"`} {
		if strings.Contains(strings.ToLower(got), never) {
			t.Errorf("the page has %s", never)
		}
	}
	for _, tag := range regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(got, -1) {
		if regexp.MustCompile(`(?i)\son\w+\s*=`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, "")) {
			t.Errorf("a handler: %s", tag)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;", `\u003cscript\u003e`, "kept &lt;i&gt;",
		"s2-f1-one", "&lt;b&gt;account"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func svgWith(label string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9pt" viewBox="0 0 9 9"><text>`)
	b.WriteString(strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(label))
	b.WriteString(`</text></svg>`)
	return b.String()
}

// What a folder lacks is said in a line.
func TestWhatCannotBeReported(t *testing.T) {
	damaged := func(spoil func(d *document.Document)) map[string]string {
		d := accountOf("a", "b", "c")
		spoil(d)
		return map[string]string{"document.json": jsonOf(t, d)}
	}
	for name, tc := range map[string]struct {
		files map[string]string
		say   string
	}{
		"nothing of ours":    {map[string]string{"notes.txt": "x"}, "nothing to report"},
		"cut JSON":           {map[string]string{"document.json": `{"version":`}, "damaged"},
		"another shape":      {map[string]string{"document.json": `{"blocks": 3}`}, "a version that this one does not read"},
		"an edge to nowhere": {damaged(func(d *document.Document) { d.Map.Edges[0][1] = 3 }), "damaged"},
		"no place":           {damaged(func(d *document.Document) { d.Map.X = d.Map.X[:2] }), "damaged"},
		"a number too few":   {damaged(func(d *document.Document) { d.Map.Attackers[0].Mu = d.Map.Attackers[0].Mu[:1] }), "damaged"},
		"a node too many":    {damaged(func(d *document.Document) { d.Map.Attackers[0].Self = []int{7} }), "damaged"},
		"a short row":        {damaged(func(d *document.Document) { d.Blocks[1].Table.Rows[0] = nil }), "damaged"},
		"stopped early":      {map[string]string{"study.json": `{"study":"mafalda account"}`}, "run it again"},
		"bad manifest":       {map[string]string{"manifest.json": `{"version":"1","steps":3}`}, "manifest.json"},
	} {
		dir := folder(t, "x", tc.files)
		_, err := Make(context.Background(), []string{dir}, "")
		if err == nil || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), dir) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Make(context.Background(), []string{none}, ""); !errors.Is(err, ErrNothing) ||
		err.Error() != none+": there is no such folder: nothing to report" {
		t.Errorf("no folder: %v", err)
	}
}

// Grids that are half done, and other versions, are shown with a warning; results without a document are refused.
func TestHalfFinished(t *testing.T) {
	d := accountOf("a", "b", "c")
	files := map[string]string{"document.json": jsonOf(t, d), "study.json": `{"study":"mafalda account","inputs":[],"key":"x"}`}
	for i := range 5 {
		files[fmt.Sprintf("cells/%d.json", i)] = "{}"
	}
	got := page(t, folder(t, "account", files))
	for _, want := range []string{"3 of the 5 results", "made by version old", "does not say by which command"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	dir := folder(t, "simulation", map[string]string{"runs.json": "{}", "simulate.csv": "method,mu\nnone,1\n"})
	if _, err := Make(t.Context(), []string{dir}, ""); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "run its command again") {
		t.Errorf("no document: %v", err)
	}
}

// Every picture of a page has names of its own, and no SVG may be broken.
func TestInline(t *testing.T) {
	s := &Section{ID: "s1"}
	one := `<svg xmlns="http://www.w3.org/2000/svg"><defs><clipPath id="a"><rect width="1"/></clipPath></defs>` +
		`<g clip-path="url(#a)"><path d="M0,0"/></g></svg>`
	first, err := s.inline("a.svg", []byte(one))
	if err != nil || !strings.Contains(string(first.SVG), `id="s1-f1-a"`) || !strings.Contains(string(first.SVG), "url(#s1-f1-a)") {
		t.Errorf("%v, %s", err, first.SVG)
	}
	if second, _ := s.inline("a.svg", []byte(one)); !strings.Contains(string(second.SVG), `id="s1-f2-a"`) {
		t.Errorf("the second has %s", second.SVG)
	}
	words := `<svg xmlns="http://www.w3.org/2000/svg"><title>all of it</title><desc>gone</desc><circle r="5" tabindex="0"><title>one &lt;b&gt;</title></circle></svg>`
	if said, err := s.inline("a.svg", []byte(words)); err != nil || said.Title != "all of it" ||
		string(said.SVG) != `<svg><circle r="5" tabindex="0"><title>one &lt;b&gt;</title></circle></svg>` {
		t.Errorf("%v, %q: %s", err, said.Title, said.SVG)
	}
	for _, broken := range []string{"", "<svg>", "<g/>", "<svg/><svg/>", "text", "<svg><svg/></svg>", "<html><svg/></html>",
		"<svg>&undefined;</svg>"} {
		if got, err := s.inline("a.svg", []byte(broken)); err == nil {
			t.Errorf("%s became %s", broken, got.SVG)
		}
	}
}

// A page begins with what its folders are, what is promised, and what that does not cover.
func TestPageBeginsWithASummary(t *testing.T) {
	d := accountOf("a", "b", "c")
	d.Summarize(document.WhatItIs, "what a node learns")
	d.Summarize("privacy", "the most exposed of 6 pairs: μ = 1.1112")
	d.NotCovered = []string{"coalitions that were not asked about"}
	d.Warn("half of it")
	got := page(t, folder(t, "account", map[string]string{"document.json": jsonOf(t, d)}))
	summary, rest, _ := strings.Cut(got, "</section>")
	for _, want := range []string{"In short", "what a node learns", "μ = 1.1112", "<dd>half of it<"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q", want)
		}
	}
	if !strings.Contains(summary, "dd { margin: 0; white-space: pre-line; }") {
		t.Error("lines of a fact run into one another")
	}
	if strings.Count(got, "coalitions that were not asked about") != 1 {
		t.Error("what is not covered is said twice, or never")
	}
	for _, want := range []string{"<dt>graph</dt><dd>x.edges<", `<td class="n">1.2346</td>`} {
		if !strings.Contains(rest, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A promise names its strength by its own ε, says a δ that does not stay, and rounds up.
func TestPromiseSays(t *testing.T) {
	noise := promise{Mu: 0.268051123211, Epsilon: 1, Delta: 1e-5}
	for want, got := range map[string]string{
		"at most 55.4\u00a0%, strong (ε = 1)":         noise.Says(1, 1),
		"at most 60.6\u00a0%, reasonable (ε = 2.155)": noise.Says(2, 2),
		"at most 85.9\u00a0%, weak (ε = 10.9)":        noise.Says(8, 8),
		"ε = 16 for δ = 2e-06, weak":                  promise{Epsilon: 8, Delta: 1e-6}.Says(1.5, 2),
		"at most 76.1\u00a0% (μ = 1.415)":             promise{Mu: 1}.Says(math.Sqrt2, 2),
	} {
		if got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
}
