package export

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mafalda/accounting/bins"
)

// The table of keys has every key once, with the limits that the rest of the program knows, and nothing of it is out of date
// elsewhere: the Python package reads a copy, and docs/formats.md names every key.
func TestKeys(t *testing.T) {
	docs, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]Key{}
	for _, k := range Keys() {
		if _, twice := there[k.Name]; twice {
			t.Errorf("%s is there twice", k.Name)
		}
		there[k.Name] = k
		name := strings.TrimRight(k.Name[strings.LastIndex(k.Name, ".")+1:], "[]*")
		if name != "" && !regexp.MustCompile("`([a-z_.]*\\.)?"+name+"[`\\[]").Match(docs) && !strings.HasPrefix(k.Name, "space.") {
			t.Errorf("docs/formats.md does not say what %s is", k.Name)
		}
	}
	for key, most := range map[string]int{"steps": MaxSteps, "gram.probes": MaxProbes, "gram.lanczos_steps": MaxLanczosSteps,
		"sampling.samples": MaxSamples, "sampling.confirmations": bins.MostConfirmations} {
		k := there[key]
		if !k.allows(reflect.ValueOf(most)) || k.allows(reflect.ValueOf(most+1)) {
			t.Errorf("%s is in %s, and at most %d", key, k.In, most)
		}
	}
	kept, err := os.ReadFile("../python/mafalda/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var copied []Key
	if err := json.Unmarshal(kept, &copied); err != nil {
		t.Fatal(err)
	}
	for i, k := range Keys() {
		k.Rules = ""
		if len(copied) != len(Keys()) || copied[i] != k {
			t.Fatalf("python/mafalda/schema.json has other keys than manifests, or other ranges, from %s on: make python", k.Name)
		}
	}
}
