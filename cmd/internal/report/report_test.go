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
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/internal/study"
	"mafalda/threat"
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

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// accountOf is an account of all nodes of a ring.
func accountOf(labels ...string) *Account {
	a := &Account{Version: "old", Settings: study.Inputs{{Name: "graph", Value: "x.edges"},
		{Name: "file of the graph", Value: strings.Repeat("ab", 32)}, {Name: "nodes", Value: fmt.Sprint(len(labels))},
		{Name: "delta", Value: "1e-06"}, {Name: "sigma", Value: "1"}, {Name: "secure summation", Value: "false"},
		{Name: "participation", Value: `{"schema":"cyclic","k":2,"b":3}`}}}
	n := len(labels)
	for i, attacker := range labels {
		r := threat.Report{Attacker: attacker, Trust: "pndp", Algorithm: "dp-d-sgd", Local: 4}
		for j, victim := range labels {
			hops := min((i-j+n)%n, (j-i+n)%n)
			p := threat.Pair{Victim: victim, Distance: &hops, Bound: "best"}
			if hops == 0 {
				p.Infinite = true
			} else {
				squared := 1.23456789 / float64(hops)
				mu, epsilon := math.Sqrt(squared), 3.00001
				p.SensSquared, p.Mu, p.Epsilon = &squared, &mu, &epsilon
			}
			r.Pairs = append(r.Pairs, p)
		}
		a.Attackers = append(a.Attackers, r)
	}
	return a
}

func page(t *testing.T, dirs ...string) string {
	t.Helper()
	r, err := Make(context.Background(), dirs, Options{})
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
	a.Settings = append(a.Settings, study.Input{Name: markup, Value: markup})
	account := folder(t, "<b>account", map[string]string{"account.json": text(t, a), "exposure.svg": svgWith(markup)})
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

// The numbers of the map and of the table are never below the account's; an edge joins nodes one hop apart.
func TestAccountIsRoundedUp(t *testing.T) {
	source := &Source{Account: accountOf("10", "9", "b", "a", "c"), Dir: t.TempDir()}
	s := &Section{ID: "s1"}
	if err := s.account(context.Background(), source, ""); err != nil {
		t.Fatal(err)
	}
	m := s.Map
	if !slices.Equal(m.Labels, []string{"9", "10", "a", "b", "c"}) {
		t.Errorf("labels %q", m.Labels)
	}
	if len(m.Edges) != 5 || m.Note != "" {
		t.Errorf("edges %v of a ring of five; %s", m.Edges, m.Note)
	}
	for _, r := range source.Account.Attackers {
		k := slices.IndexFunc(m.Attackers, func(a Attacker) bool { return a.Name == r.Attacker })
		for _, p := range r.Pairs {
			i, a := slices.Index(m.Labels, p.Victim), m.Attackers[k]
			if p.Infinite != (a.Mu[i] == -1) || !p.Infinite && (a.Mu[i] < *p.Mu || a.Epsilon[i] < *p.Epsilon ||
				a.Mu[i] > 1.001**p.Mu) {
				t.Errorf("%s of %s: %v, %v for %+v", r.Attacker, p.Victim, a.Mu[i], a.Epsilon[i], p)
			}
		}
	}
	if row := s.Tables[0].Rows[0]; row[3] != "1.2346" || row[7] != "3.0001" {
		t.Errorf("the table has %v", row)
	}
}

// One attacker of a network that nobody knows: rings by distance, and a note that says so.
func TestRings(t *testing.T) {
	a := accountOf("a", "b", "c", "d", "e", "f")
	a.Attackers = a.Attackers[:1]
	s := &Section{ID: "s1"}
	if err := s.account(context.Background(), &Source{Account: a}, ""); err != nil {
		t.Fatal(err)
	}
	if len(s.Map.Edges) != 2 || !strings.Contains(s.Map.Note, "rings") {
		t.Errorf("edges %v, %q", s.Map.Edges, s.Map.Note)
	}
}

// What a folder lacks is said in a line.
func TestWhatCannotBeReported(t *testing.T) {
	damaged := accountOf("a", "b")
	damaged.Attackers[0].Pairs[1].Mu = nil
	for name, tc := range map[string]struct {
		files map[string]string
		say   string
	}{
		"nothing of ours": {map[string]string{"notes.txt": "x"}, "nothing to report"},
		"cut JSON":        {map[string]string{"account.json": `{"version":`}, "damaged"},
		"another shape":   {map[string]string{"account.json": `{"attackers": 3}`}, "a version that this one does not read"},
		"no attackers":    {map[string]string{"account.json": `{}`}, "no attackers"},
		"no number":       {map[string]string{"account.json": text(t, damaged)}, `"a" of "b" has no number`},
		"stopped early":   {map[string]string{"study.json": `{"study":"mafalda account"}`}, "run it again"},
		"bad manifest":    {map[string]string{"manifest.json": `{"version":"1","steps":3}`}, "manifest.json"},
		"no runs":         {map[string]string{"runs.json": `{}`}, "no runs"},
		"no rows":         {map[string]string{"sampling.json": `{}`}, "no rows"},
	} {
		dir := folder(t, "x", tc.files)
		_, err := Make(context.Background(), []string{dir}, Options{})
		if err == nil || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), dir) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Make(context.Background(), []string{filepath.Join(t.TempDir(), "none")}, Options{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// Grids that are half done, and other versions, are shown with a warning.
func TestHalfFinished(t *testing.T) {
	a := accountOf("a", "b", "c", "d")
	a.Attackers = a.Attackers[:3]
	files := map[string]string{"account.json": text(t, a), "study.json": `{"study":"mafalda account","inputs":[],"key":"x"}`}
	for i := range 5 {
		files[fmt.Sprintf("cells/%d.json", i)] = "{}"
	}
	got := page(t, folder(t, "account", files))
	for _, want := range []string{"3 of 4 nodes have attacked", "3 of the 5 results", "made by version old"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	runs := `{"version":"devel","settings":[],"runs":[{"method":"none","seed":0},{"method":"a","mu":1,"seed":0},` +
		`{"method":"a","mu":1,"seed":1},{"method":"b","mu":1,"seed":0}]}`
	got = page(t, folder(t, "simulation", map[string]string{"runs.json": runs,
		"simulate.csv": "method,mu,epsilon,mean_last50\nnone,,,0.5\na,1,4.88655,0.7\nb,1,4.88655,0.8\n"}))
	for _, want := range []string{"b has 1 of 2 runs", "4.8866", "a, ε = 4.8866: loss 0.7"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// No number that is printed up is below what it stands for, and none that is printed down above.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(-40, 40).Draw(t, "log"))
		for name, tc := range map[string]struct {
			text string
			ok   func(float64) bool
		}{
			"up":   {textUp(v), func(got float64) bool { return got >= v && got <= v*1.0002 }},
			"next": {upExactly(v), func(got float64) bool { return got >= v && got <= v*(1+2e-9) }},
			"down": {textDown(v), func(got float64) bool { return got <= v && got >= v*(1-2e-9) }},
		} {
			var got float64
			if _, err := fmt.Sscan(tc.text, &got); err != nil || !tc.ok(got) {
				t.Fatalf("%s of %v is %s", name, v, tc.text)
			}
		}
	})
	for v, want := range map[float64]string{333200.74: "333201", 0.0012395741: "0.0012396", 20: "20", 1e-7: "1e-07"} {
		if got := textUp(v); got != want {
			t.Errorf("%v is printed as %s, not %s", v, got, want)
		}
	}
}

// Every picture of a page has names of its own, and no SVG may be broken.
func TestInline(t *testing.T) {
	s := &Section{ID: "s1"}
	one := `<svg xmlns="http://www.w3.org/2000/svg"><defs><clipPath id="a"><rect width="1"/></clipPath></defs>` +
		`<g clip-path="url(#a)"><path d="M0,0"/></g></svg>`
	first, err := s.inline([]byte(one))
	if err != nil || !strings.Contains(string(first), `id="s1-f1-a"`) || !strings.Contains(string(first), "url(#s1-f1-a)") {
		t.Errorf("%v, %s", err, first)
	}
	if second, _ := s.inline([]byte(one)); !strings.Contains(string(second), `id="s1-f2-a"`) {
		t.Errorf("the second has %s", second)
	}
	for _, broken := range []string{"", "<svg>", "<g/>", "<svg/><svg/>", "text", "<svg><svg/></svg>", "<html><svg/></html>",
		"<svg>&undefined;</svg>"} {
		if got, err := s.inline([]byte(broken)); err == nil {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// "Test loss against ε" had no number on its axis of losses: every axis has two, whatever its values are.
func TestAxesHaveTwoNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log"))
		high := low * math.Exp(rapid.SampledFrom([]float64{0, 1e-6, 0.1, 0.5, 1, 3, 30}).Draw(t, "log of the ratio"))
		for _, log := range []bool{false, true} {
			a := newAxis([]float64{low, high}, log, 0, 100)
			labels := map[string]bool{}
			for _, v := range a.ticks() {
				if at := a.position(v); at < -1e-9 || at > 100+1e-9 {
					t.Errorf("%v is outside of the axis from %v to %v", v, a.low, a.high)
				}
				labels[textNearest(v)] = true
			}
			if len(labels) < 2 || len(labels) > 20 {
				t.Fatalf("from %v to %v, log %v: %v", low, high, log, labels)
			}
		}
	})
	rows := []Row{{"method": "a", "epsilon": "2", "mean_last50": "0.757"},
		{"method": "b", "epsilon": "2", "mean_last50": "0.759"}}
	p, ok := lossChart(rows, "1e-06").picture()
	if n := strings.Count(string(p.SVG), `class="tick" text-anchor="end"`); !ok || n < 2 {
		t.Errorf("%d numbers on the axis of losses", n)
	}
	zeros := chart{series: []series{{points: []point{{}, {}}}}}
	if p, ok := zeros.picture(); !ok || strings.Contains(string(p.SVG), "NaN") {
		t.Error("points at 0")
	}
}

// A page begins with what its folders are, what is promised, and what that does not cover; inputs are words.
func TestPageBeginsWithASummary(t *testing.T) {
	a := accountOf("a", "b", "c", "d")
	a.Settings = append(a.Settings, study.Inputs{{Name: "algorithm", Value: "dp-d-sgd"}, {Name: "trust", Value: "pndp"},
		{Name: "bound", Value: "best"}, {Name: "alpha", Value: "2"}, {Name: "own noise", Value: "1"},
		{Name: "T", Value: "6"}}...)
	runs := `{"version":"devel","settings":[{"name":"delta","value":"1e-06"}],"runs":[{"method":"a","mu":0.23670438066342273,` +
		`"seed":0}]}`
	simulation := folder(t, "simulation", map[string]string{"runs.json": runs,
		"simulate.csv": "method,mu,epsilon,mean_last50\na,0.23670438066342273,1,0.7\nnone,,,0.5\n"})
	got := page(t, folder(t, "account", map[string]string{"account.json": text(t, a)}), simulation)
	summary, rest, _ := strings.Cut(got, "</section>")
	for _, want := range []string{"In short", "what a node that sees what reaches it learns: dp-d-sgd on x.edges, T = 6",
		"the most exposed of 12 pairs: μ = 1.1112, ε = 3.0001 for δ = 1e-06", "coalitions that were not asked about",
		"loss at ε = 1</dt><dd>a 0.7<", "loss without noise</dt><dd>none 0.5<", "simulated, not private"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q", want)
		}
	}
	for _, want := range []string{"<dt>Rényi divergence</dt><dd>of order 2<",
		"<dt>sensitivity</dt><dd>the smallest proven bound<", "<dt>steps</dt><dd>T = 6<", `<td class="n">0.23671</td>`} {
		if !strings.Contains(rest, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, never := range []string{"<dt>alpha<", "<dt>bound<", "<dt>own noise<", "0.2367043806", "secure summation"} {
		if strings.Contains(got, never) {
			t.Errorf("the page says %q", never)
		}
	}
}
