// Package inputs reads files that say something of every node, and makes the random numbers of simulated protocols.
package inputs

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/lists"
)

// Read reads lines "label something", one for each node, in any order, and hands them to set. Labels end at spaces,
// commas and semicolons; empty lines and those that start with # are skipped. Errors name the file and the line.
func Read(path string, labels []string, set func(node int, text string) error) error {
	file, _, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	number := lists.Places(labels)
	seen := make([]bool, len(labels))
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\xef\xbb\xbf"))
		if text == "" || text[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		if len(fields) != 2 {
			return fmt.Errorf("%s:%d: %q is not a label and what belongs to it", path, line, text)
		}
		i, ok := number[fields[0]]
		if !ok || seen[i] {
			return fmt.Errorf("%s:%d: node %q is not in the graph, or comes twice", path, line, fields[0])
		}
		if seen[i], err = true, set(i, fields[1]); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("%s: nothing for node %s", path, labels[i])
	}
	return nil
}
