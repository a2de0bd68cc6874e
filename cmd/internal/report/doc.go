// Package report makes one HTML file of the folders that the program writes, to look at and to pass on.
//
// A report has a section for every folder, in the order given: what was asked, what is certified, in words, and what is
// not, a table, pictures, the commands that make it again, and the SHA-256 of every file. The file needs nothing but a
// browser: style, script, data and pictures are inside, and its content security policy forbids everything else.
//
// # From a folder to a page
//
//	folder ── open ──▶ Source     document.json, or of an export its manifest in the words of package results
//	Source ── fill ──▶ Section    the document with pictures, matrices, commands and hashes; no markup but pictures
//	Sections ── Write ──▶ HTML    html/template escapes whatever came from a file
//
// Nothing is computed that a claim could rest on: what a result says was written by the command that found it, rounded to the
// safe side. A folder can be from anybody. So documents are checked before they are drawn; labels are text, whatever
// they hold; pictures are read, and only drawing elements of them are written again; damaged files are errors.
//
// # What moves
//
// The script draws matrices whose entries can be read, and a map of the network on which an attacker is chosen. Without
// the script, and on paper, the pictures of the folders are in their place.
package report
