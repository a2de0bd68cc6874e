package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// nearest matches formats that round ε, μ or δ to the nearest decimal, which can be below the truth.
var nearest = regexp.MustCompile(`(?:ε|μ|δ|epsilon|\bmu\b|delta)[^%]{0,8}%[0-9]*\.[0-9*]+[gfe]|%\.[0-9]+g[^%]*-DP`)

// What an attacker may learn is printed by rounding.UpText, or with all digits. What an audit has measured is a statistic.
func TestPrivacyIsNeverRoundedToTheNearest(t *testing.T) {
	for _, s := range []string{"μ = %.4g", "(ε, δ) = (%.4g, %g)", "(%.4g, %.3g)-DP", "epsilon %.3f"} {
		if !nearest.MatchString(s) {
			t.Errorf("%q is not found", s)
		}
	}
	for _, f := range sources(t) {
		if f.test || f.path == "cmd/internal/commands/audit.go" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && nearest.MatchString(text.Value) {
				t.Errorf("%s: %s rounds to the nearest", f.set.Position(text.Pos()), text.Value)
			}
			return true
		})
	}
}
