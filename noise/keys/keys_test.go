package keys

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/files"
	_ "mafalda/internal/seeded"
)

var terms = Terms{Export: strings.Repeat("ab", 32), Dim: 7, NoiseStd: 1.5}

// saved makes keys of nodes in files, and the directory of all of them.
func saved(t *testing.T, nodes ...string) ([]Private, Directory) {
	t.Helper()
	folder := t.TempDir()
	var all []Private
	text := "# a comment\n"
	for i, n := range nodes {
		p, err := New(n)
		if err == nil {
			err = p.Save(filepath.Join(folder, fmt.Sprint(i, ".key")))
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
		text += p.Public().Line()
	}
	d, err := ReadDirectory(file(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return all, d
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// announced are announcements of all nodes to all others, through files.
func announced(t *testing.T, all []Private, d Directory, terms Terms) map[string]Announcement {
	t.Helper()
	folder := t.TempDir()
	for i, p := range all {
		var others []string
		for _, q := range all {
			if q.Node() != p.Node() {
				others = append(others, q.Node())
			}
		}
		a, err := p.Announce(others, d, terms)
		if err == nil {
			err = a.WriteFile(filepath.Join(folder, fmt.Sprint(i, RunExtension)), false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runs, err := ReadRuns(folder)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

var strange = []string{"ann", "Ann", `b,"ob`, "#c", `two ""quotes", é`, "ü"}

func without(label string) (others []string) {
	for _, l := range strange {
		if l != label {
			others = append(others, l)
		}
	}
	return others
}

// TestEndsAgree: both ends of every pair get the same run and key, all pairs different ones, whatever is in a label;
// and the key is the one that the documentation says, written out.
func TestEndsAgree(t *testing.T) {
	all, d := saved(t, strange...)
	runs := announced(t, all, d, terms)
	found, first := map[string]string{}, map[string]Private{}
	for _, p := range all {
		m, err := p.Meet(without(p.Node()), d, runs, terms)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Pairs) != len(strange)-1 || m.Check {
			t.Errorf("%q: %d pairs", p.Node(), len(m.Pairs))
		}
		for _, pair := range m.Pairs {
			a, b := min(p.Node(), pair.Neighbour), max(p.Node(), pair.Neighbour)
			name, value := fmt.Sprintf("%q%q", a, b), pair.Run+hex.EncodeToString(pair.Secret()[:])
			if earlier, there := found[name]; there && earlier != value {
				t.Errorf("%s: the ends differ", name)
			}
			found[name], first[name] = value, p
			if want := byDefinition(t, p, d[pair.Neighbour], runs[a], runs[b]); value != want {
				t.Errorf("%s: %s, by definition %s", name, value, want)
			}
		}
	}
	distinct := map[string]bool{}
	for _, v := range found {
		distinct[v[64:]] = true
	}
	if n := len(strange) * (len(strange) - 1) / 2; len(found) != n || len(distinct) != n {
		t.Errorf("%d pairs with %d keys, want %d", len(found), len(distinct), n)
	}
}

// byDefinition derives run and key as the package comment says, HKDF written out (RFC 5869).
func byDefinition(t *testing.T, p Private, other Public, a, b Announcement) string {
	t.Helper()
	joined := func(all ...[]byte) (out []byte) {
		for _, f := range all {
			out = append(binary.LittleEndian.AppendUint64(out, uint64(len(f))), f...)
		}
		return out
	}
	unhex := func(s string) []byte { b, _ := hex.DecodeString(s); return b }
	body := func(a Announcement) []byte {
		return joined([]byte("mafalda run 1"), []byte(a.Node), unhex(a.Key), unhex(a.Nonce), unhex(a.Export),
			[]byte{7, 0, 0, 0, 0, 0, 0, 0}, unhex("000000000000f83f"), make([]byte, 8), make([]byte, 8))
	}
	mac := func(key, message []byte) []byte { h := hmac.New(sha256.New, key); h.Write(message); return h.Sum(nil) }
	run := sha256.Sum256(joined([]byte("mafalda pair run 1"), body(a), body(b)))
	key, err := ecdh.X25519().NewPublicKey(other.Key[:])
	if err != nil {
		t.Fatal(err)
	}
	point, err := p.secret().ECDH(key)
	if err != nil {
		t.Fatal(err)
	}
	info := joined([]byte("mafalda pair 1"), unhex(a.Export), []byte(a.Node), []byte(b.Node), unhex(a.Key), unhex(b.Key), run[:])
	return hex.EncodeToString(run[:]) + hex.EncodeToString(mac(mac(run[:], point), append(info, 1)))
}

// TestRunsAreFresh: a second run of the same keys and terms has other keys, and what has begun one begins no other.
func TestRunsAreFresh(t *testing.T) {
	all, d := saved(t, "a", "b")
	key := func(runs map[string]Announcement) (string, *Meeting) {
		m, err := all[0].Meet([]string{"b"}, d, runs, terms)
		if err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(m.Pairs[0].Secret()[:]), m
	}
	runs, next := announced(t, all, d, terms), announced(t, all, d, terms)
	first, m := key(runs)
	if second, _ := key(next); first == second {
		t.Error("two runs have one key")
	}
	if err := m.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := m.Begin(); !errors.Is(err, ErrUsed) {
		t.Errorf("begun twice at once: %v", err)
	}
	own := map[string]Announcement{"a": runs["a"], "b": next["b"]}
	stale := map[string]Announcement{"a": next["a"], "b": runs["b"]}
	for name, runs := range map[string]map[string]Announcement{"both": runs, "the own": own, "the neighbour's": stale} {
		if _, err := all[0].Meet([]string{"b"}, d, runs, terms); !errors.Is(err, ErrUsed) {
			t.Errorf("%s once more: %v", name, err)
		}
	}
	if _, err := all[0].Meet([]string{"b"}, d, next, terms); err != nil {
		t.Errorf("the next run: %v", err)
	}
	if err := os.RemoveAll(ledgerOf(all[0].path)); err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Meet([]string{"b"}, d, next, terms); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("without its notes: %v", err)
	}
}

// TestRefused: whatever is missing, forged or another's is one clear line, and no key.
func TestRefused(t *testing.T) {
	all, d := saved(t, "a", "b", "c")
	strangers, _ := saved(t, "a", "b", "c")
	flip := func(text string) string {
		if text[0] == '0' {
			return "1" + text[1:]
		}
		return "0" + text[1:]
	}
	type world struct {
		own  Private
		d    Directory
		runs map[string]Announcement
		t    Terms
	}
	changed := func(w *world, node string, change func(a *Announcement)) {
		a := w.runs[node]
		a.Tags = append([]Tag{}, a.Tags...)
		change(&a)
		w.runs[node] = a
	}
	for name, tc := range map[string]struct {
		change func(w *world)
		is     error
		say    string
	}{
		"no public key of a neighbour": {func(w *world) { delete(w.d, "b") }, ErrKey, `no public key of "b"`},
		"no public keys":               {func(w *world) { w.d = Directory{"a": w.d["a"]} }, ErrKey, `of "b", "c"`},
		"no own public key":            {func(w *world) { delete(w.d, "a") }, ErrKey, `"a" itself`},
		"another own public key":       {func(w *world) { w.d["a"] = strangers[0].Public() }, ErrKey, "its private one"},
		"another private key":          {func(w *world) { w.own = strangers[0] }, ErrKey, "its private one"},
		"a foreign public key":         {func(w *world) { w.d["b"] = strangers[1].Public() }, ErrKey, "another key than its public one"},
		"a foreign public key, announced": {func(w *world) {
			foreign := strangers[1].Public()
			w.d["b"] = foreign
			changed(w, "b", func(a *Announcement) { a.Key = hex.EncodeToString(foreign.Key[:]) })
		}, ErrRun, "forged"},
		"no own announcement":    {func(w *world) { delete(w.runs, "a") }, ErrRun, `node "a" itself`},
		"no announcement":        {func(w *world) { delete(w.runs, "c") }, ErrRun, `neighbour "c"`},
		"another's own":          {func(w *world) { w.runs["a"] = w.runs["b"] }, ErrRun, "another key"},
		"another nonce":          {func(w *world) { changed(w, "b", func(a *Announcement) { a.Nonce = flip(a.Nonce) }) }, ErrRun, "forged"},
		"another own nonce":      {func(w *world) { changed(w, "a", func(a *Announcement) { a.Nonce = flip(a.Nonce) }) }, ErrRun, "forged"},
		"another export":         {func(w *world) { changed(w, "b", func(a *Announcement) { a.Export = flip(a.Export) }) }, ErrRun, "another export"},
		"an export of one's own": {func(w *world) { w.t.Export = flip(w.t.Export) }, ErrRun, `"a" has announced another export`},
		"another model":          {func(w *world) { changed(w, "b", func(a *Announcement) { a.Dim++ }) }, ErrRun, "rows of 8 numbers, not 7"},
		"another level":          {func(w *world) { changed(w, "c", func(a *Announcement) { a.NoiseStd = 2 }) }, ErrRun, "noise level of 2"},
		"another grid":           {func(w *world) { changed(w, "c", func(a *Announcement) { a.Grid = 2 }) }, ErrRun, "grid of 2"},
		"a check":                {func(w *world) { changed(w, "c", func(a *Announcement) { a.Check = true }) }, ErrRun, "a check, not a run"},
		"not for this node":      {func(w *world) { changed(w, "b", func(a *Announcement) { a.Tags = a.Tags[1:] }) }, ErrRun, `not for its neighbour "a"`},
		"for others":             {func(w *world) { changed(w, "a", func(a *Announcement) { a.Tags = a.Tags[1:] }) }, ErrRun, "for 1 neighbours, not 2"},
		"a tag for another":      {func(w *world) { changed(w, "b", func(a *Announcement) { a.Tags[0].Tag = a.Tags[1].Tag }) }, ErrRun, "forged"},
		"sent back": {func(w *world) { // the own announcement as if it were the neighbour's
			changed(w, "b", func(a *Announcement) { a.Nonce, a.Tags[0].Tag = w.runs["a"].Nonce, w.runs["a"].Tags[0].Tag })
		}, ErrRun, "forged"},
		"a point of small order": {func(w *world) {
			w.d["b"] = Public{Node: "b"}
			changed(w, "b", func(a *Announcement) { a.Key = strings.Repeat("0", 64) })
		}, ErrKey, `public key of node "b" is none`},
	} {
		w := &world{all[0], Directory{}, announced(t, all, d, terms), terms}
		for n, p := range d {
			w.d[n] = p
		}
		tc.change(w)
		m, err := w.own.Meet([]string{"c", "b"}, w.d, w.runs, w.t)
		if m != nil || !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %v with %q", name, err, tc.is, tc.say)
		}
	}
}

// Labels are printed: one with characters that a terminal would obey is no label of a key, as it is none of a graph.
func TestLabelsCannotSteerTerminals(t *testing.T) {
	for _, label := range []string{"a\x1b[2J", "line\nbreak", "\u009b2J", "\u202edas"} {
		if _, err := New(label); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", label, err)
		}
		if _, err := ReadDirectory(file(t, Public{Node: label}.Line())); !errors.Is(err, ErrKey) {
			t.Errorf("%q in a directory: %v", label, err)
		}
	}
}

// TestDirectory: a file of public keys is read as it was written, and anything doubtful in it refused.
func TestDirectory(t *testing.T) {
	all, d := saved(t, strange...)
	for _, p := range all {
		if d[p.Node()] != p.Public() {
			t.Errorf("%q is %v", p.Node(), d[p.Node()])
		}
	}
	a, b := all[0].Public(), all[2].Public()
	other := a
	other.Node = "other"
	for name, tc := range map[string]struct{ text, say string }{
		"a label twice":       {a.Line() + a.Line(), ":2: "},
		"a key twice":         {a.Line() + "\n" + other.Line(), "same key as line 1"},
		"another fingerprint": {strings.Replace(a.Line(), a.Fingerprint(), b.Fingerprint(), 1), "the fingerprint of this label and key is " + a.Fingerprint()},
		"another label":       {strings.Replace(a.Line(), "ann", "bob", 1), "fingerprint"},
		"two fields":          {"a,b\n", "wrong number"},
		"no key":              {"a,b,c\n", "hexadecimal"},
		"no label":            {strings.Replace(a.Line(), "ann", "", 1), "empty"},
		"a label of no text":  {strings.Replace(a.Line(), "ann", "\xff", 1), "UTF-8"},
		"capital digits":      {strings.ToUpper(a.Line()), "lower case"},
		"cut":                 {b.Line()[:5], `"`},
	} {
		if _, err := ReadDirectory(file(t, tc.text)); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "label")
		p := Public{Node: text, Key: [size]byte(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "key"))}
		if graph.CheckLabel(text) != nil {
			return // refused
		}
		path := filepath.Join(os.TempDir(), fmt.Sprint("keys-", os.Getpid()))
		defer os.Remove(path)
		if err := os.WriteFile(path, []byte(p.Line()), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := ReadDirectory(path); text != "" && (err != nil || d[text] != p) || text == "" && err == nil {
			t.Fatalf("%q: %v, %v", text, d, err)
		}
	})
}

// TestPrivateFile: a key is for its owner alone, never replaced, and a damaged one is refused without showing it.
func TestPrivateFile(t *testing.T) {
	all, _ := saved(t, "a")
	path := all[0].path
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := New("a")
	if err := errors.Join(err, again.Save(path)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a key in the place of another: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(good) {
		t.Error("the key is another", err)
	}
	beside := filepath.Join(t.TempDir(), "key")
	if err := os.Mkdir(ledgerOf(beside), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := again.Save(beside); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a key beside the notes of another: %v", err)
	}
	if _, err := os.Stat(beside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a key: %v", err)
	}
	secret := hex.EncodeToString(all[0].secret().Bytes())
	for name, text := range map[string]string{
		"cut": string(good[:len(good)/2]), "empty": "", "another format": strings.Replace(string(good), "key 1", "key 2", 1),
		"a digit less":            strings.Replace(string(good), secret, secret[1:], 1),
		"another key":             strings.Replace(string(good), secret, strings.Repeat("01", 32), 1),
		"twice":                   strings.Replace(string(good), `"node"`, `"public":"","node"`, 1),
		"another's public one":    strings.Replace(string(good), `"public":"`, `"public":"00`, 1),
		"a label that is no text": strings.Replace(string(good), `"a"`, `""`, 1),
	} {
		_, err := Load(file(t, text))
		if !errors.Is(err, ErrKey) || strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := Load(path); err != nil || p.Public() != all[0].Public() || p.Node() != "a" {
		t.Errorf("%v, %v", p, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); runtime.GOOS != "windows" && !errors.Is(err, ErrKey) {
		t.Errorf("a key that others can read: %v", err)
	}
	for _, shown := range []string{fmt.Sprint(all[0]), fmt.Sprintf("%+v %#v %x", all[0], all[0], all[0])} {
		if strings.Contains(shown, secret[:8]) {
			t.Errorf("%s shows the key", shown)
		}
	}
}

// TestRunFolders: of two announcements of one node nobody knows which one neighbours have; damaged ones are named.
func TestRunFolders(t *testing.T) {
	all, d := saved(t, "a", "b")
	a, err := all[0].Announce([]string{"b"}, d, terms)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.WriteFile(filepath.Join(folder, "a.run"), false); err != nil {
		t.Fatal(err)
	}
	put("notes.txt", "not read")
	if runs, err := ReadRuns(folder); err != nil || len(runs) != 1 || runs["a"].Nonce != a.Nonce {
		t.Errorf("%v, %v", runs, err)
	}
	good, err := os.ReadFile(filepath.Join(folder, "a.run"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ text, say string }{
		"twice":           {string(good), "both of"},
		"cut":             {string(good[:40]), "z.run"},
		"an unknown key":  {strings.Replace(string(good), `"node": "a"`, `"node": "a", "more": 1`, 1), `"more"`},
		"another format":  {strings.Replace(string(good), "run 1", "run 2", 1), "format"},
		"no rows":         {strings.Replace(string(good), `"dim": 7`, `"dim": 0`, 1), "out of range"},
		"no noise":        {strings.Replace(string(good), `1.5`, `-1.5`, 1), "out of range"},
		"a short nonce":   {strings.Replace(string(good), a.Nonce, a.Nonce[2:], 1), "hexadecimal"},
		"a short tag":     {strings.Replace(string(good), a.Tags[0].Tag, "00", 1), "tags"},
		"a tag of itself": {strings.Replace(string(good), `"node": "b"`, `"node": "a"`, 1), "tags"},
		"no tags":         {strings.Replace(string(good), `"tags": [`, `"tags": null, "x": [`, 1), "null"},
	} {
		put("z.run", tc.text)
		if _, err := ReadRuns(folder); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
}

// TestCheckMeets: a check is between those who announce it to each other.
func TestCheckMeets(t *testing.T) {
	all, d := saved(t, "a", "b", "c")
	check := terms
	check.Check = true
	runs := map[string]Announcement{}
	for i, to := range [][]string{{"b"}, {"a"}} {
		a, err := all[i].Announce(to, d, check)
		if err != nil {
			t.Fatal(err)
		}
		runs[a.Node] = a
	}
	m, err := all[0].Meet([]string{"b", "c"}, d, runs, terms)
	n, err2 := all[1].Meet([]string{"a", "c"}, d, runs, terms)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if !m.Check || len(m.Pairs) != 1 || m.Pairs[0].Neighbour != "b" || *m.Pairs[0].Secret() != *n.Pairs[0].Secret() {
		t.Errorf("%+v", m)
	}
}

// The same key meets the same notes by whatever link it is named: what has begun under one name does not begin again under
// another.
func TestLinksShareOneLedger(t *testing.T) {
	all, d := saved(t, "a", "b")
	runs := announced(t, all, d, terms)
	m, err := all[0].Meet([]string{"b"}, d, runs, terms)
	if err == nil {
		err = m.Begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, link := range []struct{ name, to string }{{"absolute", all[0].path}, {"twice", filepath.Join(folder, "absolute")},
		{"above", filepath.Dir(all[0].path)}} {
		if err := os.Symlink(link.to, filepath.Join(folder, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	for _, name := range []string{"absolute", "twice", filepath.Join("above", filepath.Base(all[0].path))} {
		p, err := Load(name)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := p.Meet([]string{"b"}, d, runs, terms); !errors.Is(err, ErrUsed) {
			t.Errorf("%s: once more: %v", name, err)
		}
	}
	if err := os.Mkdir(ledgerOf("absolute"), 0o700); err != nil { // as links once had
		t.Fatal(err)
	}
	if _, err := Load("absolute"); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "both have notes") {
		t.Errorf("a link with notes of its own: %v", err)
	}
	if err := os.Link(all[0].path, "another"); err != nil {
		return // no hard links here
	}
	for _, name := range []string{"another", all[0].path} {
		if _, err := Load(name); files.Names(stat(t, name)) == 2 && !errors.Is(err, ErrKey) {
			t.Errorf("%s: one key of two names: %v", name, err)
		}
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
