// Package document is what a result says, described once: facts, tables, warnings, what is certified and what that does not cover,
// charts and a map of nodes. It is rendered in three ways:
//
//	Text    for a terminal: facts and tables
//	JSON    document.json in a folder of results, from which a report is made later
//	page    HTML: package report has the page, with pictures, hashes and the commands that made a folder
//
// What is said stands in pages, text with holes (Page), which are filled with the data of a result.
//
// A description is made of a result while all about it is known (package results), and rounds every number to the safe side. So
// a page cannot say anything else than the terminal did, and no second program has to guess what a result meant.
package document
