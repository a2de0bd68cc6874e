package version

import (
	"runtime/debug"
	"testing"
)

// A program says its version, else the commit it was built from and whether files had changed, whatever module it is
// of.
func TestVersion(t *testing.T) {
	own := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "mafalda", Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	dependency := &debug.Module{Path: "mafalda", Version: "v1.2.3"}
	for want, info := range map[string]*debug.BuildInfo{
		"devel":                    own("(devel)"),
		"devel-0123456789ab":       own("(devel)", commit),
		"devel-0123456789ab+dirty": own("", commit, changed),
		"v0.0.0-2026+dirty":        own("v0.0.0-2026+dirty", commit, changed),
		"v1.2.3":                   {Main: debug.Module{Path: "other"}, Deps: []*debug.Module{{Path: "x"}, dependency}},
	} {
		if got := moduleVersion(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
