// Package fault has the errors that libraries return for arguments that make no sense. They name the field of the
// struct, or the parameter, that is wrong, as a Go program spells it; a command line knows which of its flags fills
// it.
package fault
