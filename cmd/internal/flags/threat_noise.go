package flags

import (
	"fmt"

	"mafalda/accounting"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/threat"
)

// Level is the standard deviation of the noise that is accounted for.
type Level struct {
	Sigma float64 `json:"sigma"`                // over what a record can move a sum of gradients by
	From  string  `json:"sigma_from,omitempty"` // the export that it is from; empty: it was given, or is the default

	exported *threat.NoiseLevel
	without  string // the export that has no noise level, where one was looked for
}

// Level returns the noise level: sigma if it was given, else the export's level, if Algorithm has loaded one that was
// calibrated, else 1.
func (f *ThreatFlags) Level(sigma float64, given bool) (Level, error) {
	switch {
	case given:
		return Level{Sigma: sigma}, nil
	case f.exported == nil:
		return Level{Sigma: 1}, nil
	}
	level, err := threat.NoiseOf(f.exported)
	switch {
	case err != nil:
		return Level{}, terminal.Usage(fmt.Errorf("%s: %w", f.strategy, err))
	case level == nil:
		return Level{Sigma: 1, without: f.strategy}, nil
	}
	return Level{Sigma: level.Sigma, From: f.strategy, exported: level}, nil
}

// Fact says it in words.
func (l Level) Fact() document.Fact { return document.Fact{Name: "noise", Value: l.text()} }

func (l Level) text() string {
	switch {
	case l.without != "":
		return fmt.Sprintf("standard deviation 1, in units of what a record can move a sum of gradients by: %s was not calibrated",
			l.without)
	case l.exported == nil:
		return fmt.Sprintf("standard deviation %s, in units of what a record can move a sum of gradients by", terminal.AsGiven(l.Sigma))
	}
	text := fmt.Sprintf("standard deviation %s, in sums of gradients clipped to %s, from %s",
		terminal.DecimalUp(l.exported.Std, 6), terminal.AsGiven(l.exported.Clip), l.From)
	if l.exported.Adjacency == accounting.ReplaceOne {
		text += " (a record that is replaced moves them by 2·clip)"
	}
	return text
}
