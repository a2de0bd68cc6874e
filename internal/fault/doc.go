// Package fault has the error about a bad argument of a library call: it names the field of the options struct that the
// argument was in, and says what is wrong with it.
//
// A library knows no command line. The program above it turns fields into the names of its flags, in one place, and
// tells such errors, which the caller can mend, from failures to compute or to write.
package fault
