package export

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// Any bytes are a manifest, which is then written and read to the bit, or an error of one line.
func FuzzReadManifest(f *testing.F) {
	for _, class := range []string{"dense", "blt"} {
		m := manifest(2)
		m.Strategy.Class = class
		m.Files = map[string]string{"C.npy": "ab"}
		var buf bytes.Buffer
		if err := m.WriteJSON(&buf); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := ReadManifest(bytes.NewReader(content))
		if err != nil {
			if !errors.Is(err, ErrManifest) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		if err := m.CheckPrivacy(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("privacy: error %q", err)
		}
		if _, err := m.Participation.Of(min(m.Steps, 1000)); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("participation: error %q", err)
		}
		var buf bytes.Buffer
		if err := m.WriteJSON(&buf); err != nil {
			t.Fatal(err)
		}
		back, err := ReadManifest(&buf)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, buf.Bytes())
		}
		var again bytes.Buffer
		if err := back.WriteJSON(&again); err != nil || len(m.Files) != len(back.Files) ||
			!reflect.DeepEqual(m.Privacy, back.Privacy) {
			t.Errorf("%+v came back as %+v, %v", m, back, err)
		}
	})
}
