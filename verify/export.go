package verify

import (
	"reflect"
	"strings"

	"mafalda/export"
)

// files checks that the folder holds what the manifest lists, and nothing else.
func (v *verification) files() {
	if len(v.export.Mismatch) == 0 {
		v.add("hashes", true, "%d files", len(v.export.Manifest.Files))
	}
	for _, m := range v.export.Mismatch {
		v.add("hashes", false, "%s", m)
	}
	if len(v.export.Extra) > 0 {
		v.add("extra files", false, "the folder holds what the manifest does not list: %s",
			strings.Join(v.export.Extra, ", "))
	}
}

// participation checks that the schema is written as it would be: another k or b for the same one is a contradiction.
func (v *verification) participation() {
	says := v.export.Manifest.Participation
	is := export.DescribeSchema("", v.asked)
	ok := says.Schema == is.Schema && says.K == is.K && says.B == is.B && reflect.DeepEqual(says.Patterns, is.Patterns)
	if says.Schema == "patterns" {
		v.skip("participation.source")
	} else {
		ok = ok && says.Source == ""
	}
	if ok {
		v.add("schema", true, "%v", v.asked)
		return
	}
	v.add("schema", false,
		"this is %s with k = %d, b = %d; the manifest says %s with k = %d, b = %d, or other patterns", is.Schema,
		is.K, is.B,
		says.Schema, says.K, says.B)
}

// privacy checks the noise against the claimed guarantee.
func (v *verification) privacy() {
	if err := v.export.Manifest.CheckPrivacy(); err != nil {
		v.add("privacy", false, "%v", err)
		return
	}
	p := v.export.Manifest.Privacy
	if p == nil {
		v.add("privacy", true, "none is claimed: whoever draws noise must choose its level")
		v.skip("privacy")
		return
	}
	v.add("privacy", true, "%s takes noise of standard deviation %v, as the manifest says", v.export.Manifest.Guarantee(),
		p.NoiseStd)
}
