package terminal

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"mafalda/internal/lists"
)

// Table renders rows with the first column left-aligned and the others, which hold numbers, to the right. Numbers of five
// digits and more are grouped. What is wider than the terminal that it goes to gets headings of several lines and, if that
// is not enough, a line for every entry.
func Table(w io.Writer, header []string, rows [][]string) error {
	return fittingTable(w, header, grouped(rows), true)
}

// TextTable renders rows of words.
func TextTable(w io.Writer, header []string, rows [][]string) error {
	return fittingTable(w, header, rows, false)
}

func fittingTable(w io.Writer, header []string, rows [][]string, right bool) error {
	width := terminalWidth(w)
	for _, names := range [][]string{header, stacked(header, rows)} {
		text := renderTable(names, rows, right)
		line, _, _ := strings.Cut(text, "\n")
		if width == 0 || utf8.RuneCountInString(line) <= width {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	return listed(w, header, rows)
}

// stacked breaks headings between words, as far as they are longer than what stands below them.
func stacked(header []string, rows [][]string) []string {
	names := make([]string, len(header))
	for i, name := range header {
		widest := 0
		for _, r := range rows {
			widest = max(widest, displaywidth.String(r[i]))
		}
		names[i] = broken(name, widest, 0)
	}
	return names
}

// listed prints a row as lines, one an entry, with an empty line after each row.
func listed(w io.Writer, header []string, rows [][]string) error {
	widest := slices.Max(lists.Map(header, utf8.RuneCountInString))
	for i, r := range rows {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for j, cell := range r {
			if cell == "" {
				continue
			}
			gap := strings.Repeat(" ", widest-utf8.RuneCountInString(header[j]))
			if _, err := fmt.Fprintf(w, "%s%s  %s\n", header[j], gap, cell); err != nil {
				return err
			}
		}
	}
	return nil
}

var longNumber = regexp.MustCompile(`^(-?)([0-9]{5,})(\.[0-9]+)?$`)

// groupedText puts commas between the thousands of a number of five digits and more before the point. Other text is as it was.
func groupedText(text string) string {
	parts := longNumber.FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	return parts[1] + thousands(parts[2]) + parts[3]
}

// GroupedWords does that with every number that is a word of a text, or one with punctuation behind it or a bracket before.
func GroupedWords(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		number := strings.TrimRight(strings.TrimLeft(word, "("), ",.;:)")
		words[i] = strings.Replace(word, number, groupedText(number), 1)
	}
	return strings.Join(words, " ")
}

// grouped returns rows whose cells but the first are groupedText.
func grouped(rows [][]string) [][]string {
	all := make([][]string, len(rows))
	for i, r := range rows {
		for j, cell := range r {
			if j > 0 {
				cell = groupedText(cell)
			}
			all[i] = append(all[i], cell)
		}
	}
	return all
}

// renderTable draws a table in a frame. Cells may have several lines; the first column is to the left, the others are where asked.
func renderTable(header []string, rows [][]string, right bool) string {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			for line := range strings.SplitSeq(cell, "\n") {
				widths[i] = max(widths[i], displaywidth.String(line))
			}
		}
	}
	rule := func(left, middle, right string) string {
		lines := lists.Map(widths, func(n int) string { return strings.Repeat("─", n+2) })
		return left + strings.Join(lines, middle) + right + "\n"
	}
	line := func(row []string) (text string) {
		cells := lists.Map(row, func(cell string) []string { return strings.Split(cell, "\n") })
		for k := range len(slices.MaxFunc(cells, func(a, b []string) int { return len(a) - len(b) })) {
			for i, cell := range cells {
				words := append(cell, slices.Repeat([]string{""}, k+1)...)[k]
				space := strings.Repeat(" ", widths[i]-displaywidth.String(words))
				if right && i > 0 {
					words = space + words
				} else {
					words += space
				}
				text += "│ " + words + " "
			}
			text += "│\n"
		}
		return text
	}
	text := rule("┌", "┬", "┐") + line(header) + rule("├", "┼", "┤")
	for _, row := range rows {
		text += line(row)
	}
	return text + rule("└", "┴", "┘")
}
