// Package commands is the program mafalda: a file a command. A command binds flags, calls one function of a library, and has
// the result printed, written and drawn; Main runs a command line.
package commands
