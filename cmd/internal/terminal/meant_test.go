package terminal

import "testing"

func TestDidYouMean(t *testing.T) {
	names := []string{"--momentum", "--nesterov", "--graph", "--gossip"}
	for text, want := range map[string]string{"--momentun": "--momentum", "--mometnum": "--momentum", "--nest": "--nesterov",
		"--grahp": "--graph", "--zzzzzz": ""} {
		if got := DidYouMean(text, names); got != map[bool]string{true: "", false: "; did you mean " + want + "?"}[want == ""] {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
