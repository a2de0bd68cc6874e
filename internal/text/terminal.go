package text

import "unicode"

// ControlsTerminal reports whether a terminal would obey a character instead of showing it, or show nothing.
func ControlsTerminal(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || // ends of lines and paragraphs, directions
		r == 0x061c || r == 0x200e || r == 0x200f || // directions, too
		r == 0x200b || r >= 0x2060 && r <= 0x206f || r == 0xfeff // of no width; directions; a mark of byte order
}
