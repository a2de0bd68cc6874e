package terminal

import "testing"

func TestDidYouMean(t *testing.T) {
	names := []string{"--gram", "--momentum", "--nesterov", "--graph", "--gossip"}
	for text, want := range map[string]string{"--momentun": "--momentum", "--mometnum": "--momentum", "--nest": "--nesterov",
		"--grahp": "--graph", "--zzzzzz": ""} {
		if got := DidYouMean(text, names); got != map[bool]string{true: "", false: "; did you mean " + want + "?"}[want == ""] {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"abc", ""}: 3, {"abc", "abc"}: 0, {"abc", "acb"}: 1,
		{"kitten", "sitting"}: 3} {
		if got := editDistance(pair[0], pair[1]); got != want {
			t.Errorf("%q: %d, want %d", pair, got, want)
		}
	}
}
