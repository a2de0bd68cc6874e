// Package terminal is what every program with commands needs, whatever it computes: it knows no domain.
//
//	errors    Usage and Usagef mark what the user has to change; Run prints one line and returns the exit code:
//	          0 done, 1 not computed, not written or not passed, 2 flags or input, 130 interrupted
//	numbers   what claims something is rounded to the safe side: NumberUp, DecimalUp, DecimalDown;
//	          flags take whole numbers as 1e6, too: WholeNumber, WholeNumbers, SeedNumber; ByteSize takes 4GB
//	text      on a terminal it is wrapped at its width, between words; elsewhere, and Verbatim, lines stay as they are;
//	          everywhere, but Raw, characters that a terminal would obey are escaped: Plain; texts of files keep to their
//	          line: PlainLine
//	tables    Table and TextTable fit the terminal: headings break first, then a row becomes a list
//	work      Progress draws a bar on a terminal, and says how long the rest takes as far as steps have been counted;
//	          UntilInterrupted gives a command a context that Ctrl-C ends
//	help      GroupFlags lists flags under headings; unknown flags, commands and values are answered with the nearest ones
package terminal
