package flags

import (
	"fmt"
	"slices"

	"mafalda/accounting"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/threat"
)

// Level is the standard deviation of the noise that is accounted for.
type Level struct {
	Sigma float64 `json:"sigma,omitempty"`      // noise over what a record can move a sum of gradients by; 0: nodes have levels of their own
	From  string  `json:"sigma_from,omitempty"` // the export that it is from; empty: it was given, or is the default

	Own      []export.NodeLevel `json:"-"` // levels of the nodes, where they have their own
	Unit     string             `json:"-"` // who is protected
	Drawn    []float64          `json:"-"` // standard deviations of what each draws alone, where levels are worth of noise that is shared; else nil
	exported *threat.NoiseLevel
	without  string // the export that has no noise level, where one was looked for
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
		return Level{Sigma: 1, without: f.Exported}, nil
	}
	return Level{Sigma: level.Sigma, From: f.Exported, exported: level}, nil
}

// Fact says it in words.
func (l Level) Fact() document.Fact { return document.Fact{Name: "noise", Value: l.text()} }

func (l Level) text() string {
	switch {
	case l.Own != nil:
		least, most := l.Own[0].NoiseStd, l.Own[0].NoiseStd
		for _, of := range l.Own {
			least, most = min(least, of.NoiseStd), max(most, of.NoiseStd)
		}
		shared := ""
		if l.Drawn != nil {
			shared = " what they share is worth as much as noise of its own would be,"
		}
		return fmt.Sprintf("of every node its own,%s standard deviations from %s to %s in sums of clipped gradients, from %s (budgets)", shared,
			terminal.DecimalUp(least, 6), terminal.DecimalUp(most, 6), l.From)
	case l.without != "":
		return fmt.Sprintf("standard deviation 1, in units of what a %s can move a sum of gradients by: %s was not calibrated",
			l.Unit, l.without)
	case l.exported == nil:
		return fmt.Sprintf("standard deviation %s, in units of what a %s can move a sum of gradients by", terminal.AsGiven(l.Sigma), l.Unit)
	}
	text := fmt.Sprintf("standard deviation %s, in %s clipped to %s, from %s",
		terminal.DecimalUp(l.exported.Std, 6), Clipped(l.Unit), terminal.AsGiven(l.exported.Clip), l.From)
	if l.exported.Adjacency == accounting.ReplaceOne {
		text += " (a " + l.Unit + " that is replaced moves them by 2·clip)"
	}
	return text
}
