// Package inputs reads files that say something of every node, and makes the random numbers of simulated protocols.
package inputs

import (
	"fmt"
	"slices"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/internal/text"
)

// Read reads lines "label something", one for each node, in any order, and hands them to set. Labels end at spaces,
// commas and semicolons; empty lines and those that start with # are skipped. Errors name the file and the line.
func Read(path string, labels []string, set func(node int, text string) error) error {
	file, _, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	number, seen := lists.Places(labels), make([]bool, len(labels))
	_, err = files.Lines(file, path, func(line string, _ int) error {
		if line == "" || line[0] == '#' {
			return nil
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		if len(fields) != 2 {
			return fmt.Errorf("%s is not a label and what belongs to it", text.Short(line))
		}
		i, ok := number[fields[0]]
		if !ok || seen[i] {
			return fmt.Errorf("node %s is not in the graph, or comes twice", text.Short(fields[0]))
		}
		seen[i] = true
		return set(i, fields[1])
	})
	if err != nil {
		return err
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("%s: nothing for node %s", path, labels[i])
	}
	return nil
}
