package flags

import (
	"fmt"
	"slices"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/lists"
	"mafalda/threat"
)

// Level is the standard deviation of the noise that is accounted for.
type Level struct {
	Sigma float64 `json:"sigma,omitempty"`      // noise over what a record can move a sum of gradients by; 0: nodes have levels of their own
	From  string  `json:"sigma_from,omitempty"` // the export that it is from; empty: it was given, or is the default

	Own          []export.NodeLevel `json:"-"` // levels of the nodes, where they have their own
	Unit         string             `json:"-"` // who is protected
	Drawn        []float64          `json:"-"` // standard deviations of what each draws alone, where levels are worth of noise that is shared; else nil
	Exported     *threat.NoiseLevel `json:"-"` // level of the export
	Uncalibrated string             `json:"-"` // the export that has no noise level, where one was looked for
}

// Level returns the noise level: the levels of the nodes, if Algorithm has loaded an export of such, sigma if it was
// given, else the export's level, if Algorithm has loaded one that was calibrated, else 1.
func (f *ThreatFlags) Level(sigma float64, given bool) (Level, error) {
	switch {
	case f.Manifest != nil && f.Manifest.Budgets != nil && given:
		return Level{}, terminal.Usagef("--sigma: the nodes of %s have privacy levels, and noise, of their own: leave it out", f.Exported)
	case f.Manifest != nil && f.Manifest.Budgets != nil:
		own := slices.Clone(f.Manifest.Budgets)
		var drawn []float64
		for i := range own {
			if f.shares != nil {
				drawn = append(drawn, own[i].NoiseStd*f.shares.Own[i])
			}
			own[i].NoiseStd *= f.Manifest.Part(f.Manifest.PrivacyOf(i))
		}
		return Level{From: f.Exported, Own: own, Drawn: drawn}, nil
	case given:
		return Level{Sigma: sigma}, nil
	case f.Manifest == nil:
		return Level{Sigma: 1}, nil
	}
	level, err := threat.NoiseOf(f.Manifest)
	switch {
	case err != nil:
		return Level{}, terminal.Usage(fmt.Errorf("%s: %w", f.Exported, err))
	case level == nil:
		return Level{Sigma: 1, Uncalibrated: f.Exported}, nil
	}
	return Level{Sigma: level.Sigma, From: f.Exported, Exported: level}, nil
}

var levelPage = document.Page[Level](factPages, "noise")

// Fact says it in words.
func (l Level) Fact() document.Fact { return facts(levelPage(l))[0] }

// Least returns the least standard deviation of the levels that nodes have.
func (l Level) Least() float64 { return slices.Min(l.stds()) }

// Most returns the largest.
func (l Level) Most() float64 { return slices.Max(l.stds()) }

func (l Level) stds() []float64 {
	return lists.Map(l.Own, func(of export.NodeLevel) float64 { return of.NoiseStd })
}

// Clipped says what is clipped.
func (l Level) Clipped() string { return Clipped(l.Unit) }
