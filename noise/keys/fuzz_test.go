package keys

import (
	"bytes"
	"strings"
	"testing"
)

// What is read as an announcement is one, and its authenticated bytes tell it from every other one.
func FuzzRun(f *testing.F) {
	digits := strings.Repeat("0a", 32)
	good := `{"format":"mafalda run 1","node":"a","key":"` + digits + `","nonce":"` + digits + `","export":"` + digits +
		`","dim":3,"noise_std":1,"tags":[{"node":"b","tag":"` + digits + `"}]}`
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, `"dim":3`, `"dim":3,"grid":0.5,"check":true`, 1)))
	f.Add([]byte(strings.Replace(good, `"b"`, `"a"`, 1)))
	first, err := parseRun([]byte(good))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseRun(text)
		if err != nil {
			return
		}
		same := a.Node == first.Node && a.Key == first.Key && a.Nonce == first.Nonce && a.Terms == first.Terms
		if bytes.Equal(a.body(), first.body()) != same || a.Dim < 1 || !(a.NoiseStd > 0) {
			t.Errorf("%+v", a)
		}
	})
}
