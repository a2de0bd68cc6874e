// Package files opens what users name, and refuses what might never end.
//
// A name on a command line can be a named pipe, a device or a folder. Opening a pipe that nobody writes to waits for ever; a
// device has no end; either can be read only once, so that what is hashed is not what is used. All files that mafalda reads
// are therefore opened here: regular files only, decided on the open file and not on its name, so that nobody can put a pipe in
// its place in between.
//
// What must stay secret is written by Private: readable by its owner from the first byte on, whole or not there at all.
package files
