package report

import (
	"path/filepath"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/text"
)

// commands returns the command lines that have made a folder, as it keeps them, and for exports the one that checks it. Names of
// files are as they were given.
func (s *Source) commands() []Command {
	dir := filepath.Clean(s.Dir)
	var all []Command
	for _, words := range s.Commands {
		if len(words) > 0 {
			all = append(all, Command{Line: text.Line(append(append([]string{"mafalda"}, words...), "-o", dir)...)})
		}
	}
	if len(all) == 0 && s.Document.Kind != "pictures" {
		all = append(all, Command{Note: "The folder does not say by which command it was made."})
	}
	if s.Export == nil {
		return all
	}
	check := []string{"mafalda", "verify", terminal.Operand(dir)}
	if g := s.Export.Manifest.Graph; g != nil {
		if g.SHA256 != "" {
			check = append(check, "--graph", g.Source)
		}
		if g.GossipFile != "" {
			check = append(check, "--gossip", g.GossipFile)
		}
	}
	return append(all, Command{Line: text.Line(check...), Note: "Checks the export from its bytes alone."})
}
