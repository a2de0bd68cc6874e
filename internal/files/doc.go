// Package files opens what users name, refuses what might never end, and writes whole files or none.
//
// A name on a command line can be a named pipe, a device or a folder. Opening a pipe that nobody writes to waits for
// ever; a device has no end; either can be read only once, so that what is hashed is not what is used. All files that
// mafalda reads are therefore opened here: regular files only, decided on the open file and not on its name, so that
// nobody can put a pipe in its place in between.
//
// WriteFile writes a file under a temporary name beside it and puts it in its place when it is whole. NewFolder,
// Exchange and Hold are the parts of which a room makes the same for a folder of files. What a killed program leaves is
// removed by the next one that writes there, what a signal interrupts by RemoveTemporaries.
//
// What must stay secret is written by Private: readable by its owner from the first byte on, whole or not there at all.
package files
