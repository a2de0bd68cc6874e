// Package version says which version of mafalda runs: what exports and the folders of studies carry.
package version

import (
	"runtime/debug"
	"strings"
)

// String returns the version of this module in the program that runs, or the commit it was built from: go build knows
// both in a clone. It is "devel" where it was built without (-buildvcs=false, go run, a folder that is no clone).
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return moduleVersion(info)
}

// moduleVersion returns the version of this module that the build information of a program names.
func moduleVersion(info *debug.BuildInfo) string {
	if info.Main.Path != module && !strings.HasPrefix(info.Main.Path, module+"/") { // no module of this repository
		return dependencyVersion(info)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	v := "devel"
	if r := settings["vcs.revision"]; r != "" {
		v += "-" + r[:min(12, len(r))]
	}
	if settings["vcs.modified"] == "true" {
		v += "+dirty"
	}
	return v
}

const module = "mafalda"

// dependencyVersion returns the version that another program was built with.
func dependencyVersion(info *debug.BuildInfo) string {
	for _, d := range info.Deps {
		if d.Path != module {
			continue
		}
		for d.Replace != nil {
			d = d.Replace
		}
		if d.Version != "" && d.Version != "(devel)" {
			return d.Version
		}
	}
	return "devel"
}
