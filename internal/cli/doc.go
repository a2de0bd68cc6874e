// Package cli is what the commands of this module's programs share: how errors become exit codes, how numbers, tables and
// progress are printed, how Ctrl-C ends a command, where results are written, and groups of flags that several commands have.
//
// A command reads flags, calls one function of a library room, and prints what comes back:
//
//	errors    Usage and Usagef mark what the user has to change; Run prints one line and returns the exit code:
//	          0 done, 1 not computed, not written or not passed, 2 flags or input, 130 interrupted
//	          bad arguments of library calls (package fault) are told by the flags that fill their fields
//	numbers   what claims something is rounded to the safe side: NumberUp, DecimalUp, DecimalDown;
//	          flags take whole numbers as 1e6, too: WholeNumber, WholeNumbers, SeedNumber
//	text      on a terminal it is wrapped at its width, between words; elsewhere, and Verbatim, lines stay as they are;
//	          everywhere, but Raw, characters that a terminal would obey are escaped: Plain; texts of files keep to their
//	          line: PlainLine
//	work      Progress draws a bar on a terminal, and says how long the rest takes as far as that has been counted;
//	          UntilInterrupted gives a command a context that Ctrl-C ends
//	results   WriteResult and the functions around studies write into folders, and say what is kept of what was stopped
//	accounts  Accounts has the studies of account, for every program that runs them, and their tables
//	flags     SchemaFlags, PrivacyFlags, ThreatFlags: flags to values of the library, checked
//
// Nothing here computes, and nothing below this room knows a flag.
package cli
