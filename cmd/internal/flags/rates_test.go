package flags

import (
	"strings"
	"testing"
)

func TestParseRates(t *testing.T) {
	s, err := parseRates(strings.NewReader("\ufeff# rates\r\n1\r\n\r\n 0.5 \r\n1e-3\n\n"), "rates")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Rates(3); err != nil || r[0] != 1 || r[1] != 0.5 || r[2] != 1e-3 {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := s.Rates(4); err == nil {
		t.Error("three rates for four steps")
	}
	for text, say := range map[string]string{"1\nfast\n": `rates:2: "fast" is not a number`, "": "no rates",
		"1 2\n": "one a line", strings.Repeat("1", 1<<17): "not a number"} {
		if _, err := parseRates(strings.NewReader(text), "rates"); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%.20q: %v, want %q", text, err, say)
		}
	}
}
