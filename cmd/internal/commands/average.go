package commands

import (
	"errors"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/protocols/averaging"
)

type averageFlags struct {
	network            flags.NetworkFlags
	protocol           string
	compare, papers    bool
	valueStd, noiseStd float64
	values, chosen     string
	rounds             int
	observer, victim   string
	difference, delta  float64
	push               flags.PushFlags
	outcomeFlags

	given func(string) bool
	bar   *terminal.Progress
	note  func(lines ...string)
}

func (f *averageFlags) run(cmd *cobra.Command) error {
	f.given = func(name string) bool { return terminal.Given(cmd, name) }
	if err := f.check(); err != nil {
		return terminal.Usage(err)
	}
	f.bar, f.note = f.Progress(cmd), f.Note(cmd)
	switch {
	case f.papers:
		return results.AveragingError(f.drawPapers(cmd))
	case f.compare:
		return results.AveragingError(f.runCompare(cmd))
	}
	return f.runOne(cmd)
}

func (f *averageFlags) check() error {
	switch {
	case f.papers && f.Dir == "":
		return errors.New("--papers: where to? Use -o FOLDER")
	}
	for _, c := range []struct {
		field string
		value float64
		used  bool
	}{
		{"ValueStd", f.valueStd, true}, {"NoiseStd", f.noiseStd, f.given("noise-std")},
		{"Difference", f.difference, f.given("protocol difference")},
	} {
		if c.used {
			if err := averaging.CheckDeviation(c.field, c.value); err != nil {
				return err
			}
		}
	}
	return f.push.Check(&f.network, f.compare || f.protocol == "dpps", !f.compare)
}
