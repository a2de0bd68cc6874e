package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"mafalda/export"
)

// compare adds a check that the manifest says what was computed again, by all rules of that check. Its detail is the
// summary, or what was compared if that is empty; where something differs, what is true and what the manifest says instead.
func (v *verification) compare(check, summary string) bool {
	return v.compareWith(&v.again, check, summary)
}

// compareWith is compare for a manifest of its own.
func (v *verification) compareWith(is *export.Manifest, check, summary string) bool {
	var same, wrong []string
	for _, r := range rules() {
		if r.check != check || slices.Contains([]comparison{judged, given, unchecked, block}, r.how) {
			continue
		}
		says, is := find(v.export.Manifest, r.key), find(is, r.key)
		keys := maps.Clone(says)
		maps.Copy(keys, is)
		for _, key := range slices.SortedFunc(maps.Keys(keys), naturally) {
			if text, ok := v.differ(r, key, says[key], is[key]); !ok {
				wrong = append(wrong, text)
			} else {
				same = append(same, key+" "+textOf(says[key]))
			}
		}
	}
	if len(same) > fewNumbers {
		same = []string{fmt.Sprintf("%d numbers", len(same))}
	}
	v.add(check, len(wrong) == 0, "%s", cmp.Or(strings.Join(wrong, "; "), summary, "confirmed: "+strings.Join(same, ", ")))
	return len(wrong) == 0
}

// fewNumbers are written out by compare; of more it says how many they are.
const fewNumbers = 3

// listNotChecked adds the keys that the rules leave unchecked to those that turned out to be, and puts all in the order
// of the manifest, none twice.
func (v *verification) listNotChecked() {
	order := map[string]int{} // of the blocks
	block := func(key string) string { return key[:strings.IndexAny(key+".", ".[")] }
	for i, r := range rules() {
		if _, there := order[block(r.key)]; !there {
			order[block(r.key)] = i
		}
		if r.how == unchecked && (r.absent || v.has(r.key)) {
			v.skip(r.key)
		}
	}
	slices.SortStableFunc(v.NotChecked, func(a, b string) int { return order[block(a)] - order[block(b)] })
	var list []string
	for _, key := range v.NotChecked {
		if !slices.ContainsFunc(v.NotChecked, func(in string) bool { return in != key && inside(key, in) }) &&
			!slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	v.NotChecked = list
}

// everyKey adds a failed check for what is in the manifest, and neither listed as not checked nor of a check that was
// made: it has no place in such an export. Where a check has failed already, others may be missing, and nothing is
// said.
func (v *verification) everyKey() {
	if !v.OK() {
		return
	}
	done := map[string]bool{}
	for _, c := range v.Checks {
		done[c.Name] = true
	}
	settled := map[string]bool{}
	for _, r := range rules() {
		left := slices.ContainsFunc(v.NotChecked, func(key string) bool { return inside(r.key, key) })
		settled[r.key] = settled[r.key] || r.check == "" || done[r.check] || left || !v.has(r.key)
	}
	for _, key := range slices.Sorted(maps.Keys(settled)) {
		if !settled[key] {
			v.add("keys", false, "%s is checked by nothing in such an export", key)
		}
	}
}

// differ compares two values of a key by its rule; an invalid one is not there. It says what differs.
func (v *verification) differ(r rule, key string, says, is reflect.Value) (text string, ok bool) {
	number := func(x reflect.Value) float64 {
		if !x.IsValid() {
			return 0
		}
		return x.Float()
	}
	word := "is"
	switch r.how {
	case exactly:
		ok = says.IsValid() == is.IsValid() && (!is.IsValid() || reflect.DeepEqual(says.Interface(), is.Interface()))
	case atMost:
		word = "is at most"
		ok = number(says) <= number(is)
	case within:
		if ok = says.IsValid() == is.IsValid(); ok {
			ok = near(says, is, r.apart(v, key))
		}
	}
	return fmt.Sprintf("%s %s %s; the manifest says %s", key, word, textOf(is), textOf(says)), ok
}

// near reports whether two numbers differ by a part of the second at most; for pairs, by a part of its modulus.
func near(says, is reflect.Value, apart float64) bool {
	if is.Kind() == reflect.Array {
		modulus := math.Hypot(is.Index(0).Float(), is.Index(1).Float())
		for i := range is.Len() {
			if !(math.Abs(says.Index(i).Float()-is.Index(i).Float()) <= apart*modulus) {
				return false
			}
		}
		return true
	}
	return math.Abs(says.Float()-is.Float()) <= apart*math.Abs(is.Float()) && !math.IsInf(is.Float(), 0)
}

// textOf prints a value for people.
func textOf(x reflect.Value) string {
	switch {
	case !x.IsValid():
		return "absent"
	case x.Kind() == reflect.String:
		return fmt.Sprintf("%q", x.String())
	}
	return fmt.Sprint(x.Interface())
}

// baselineOf returns the name in the key of a baseline; empty for others.
func baselineOf(key string) string {
	rest, _ := strings.CutPrefix(key, "baselines.")
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// naturally orders keys as lists are: numbers by their value.
func naturally(a, b string) int {
	if len(a) != len(b) && strings.Contains(a, "[") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// has reports whether the manifest has a key.
func (v *verification) has(key string) bool { return len(find(v.export.Manifest, key)) > 0 }

// find returns what a manifest has under the keys that a pattern stands for, by keys.
func find(m *export.Manifest, pattern string) map[string]reflect.Value {
	return maps.Collect(m.Values(pattern))
}
