// Package study keeps what a grid of independent computations has found, so that no number is believed of inputs
// that it is not of.
//
// # Cells, inputs, folders
//
// A study is one function over many cells, the places of a grid: attackers, or methods by levels by seeds. The function
// has a result for every cell; cells and results are plain JSON data. All that a result depends on besides its cell are
// the [Inputs] of the study: the bytes of every file that is read, every option that changes a number, the version of
// the program. What is behind a name in a cell, such as the bytes of a file, belongs in the cell.
//
// A folder belongs to the inputs of one study, and says so in a file. Other inputs are an [InputsError] that names
// those which differ. More cells are always welcome, from several processes at once.
//
//	DIR/study.json      whose folder it is: study, inputs, their key, and the names of the summaries that may be replaced
//	DIR/cells/KEY.json  a cell, its result and their SHA-256; KEY is the SHA-256 of the key of the inputs and of the cell
//	DIR/grids/KEY.json  cells that were asked for by a command, where they are computed in shards; KEY is its SHA-256
//	DIR/failed/KEY.json a cell of a shard that could not be computed, and why; gone when it can
//	DIR/...             summaries, made anew of all cells after every run that is no shard
//	DIR/.lock           held while study.json or a summary is written; empty
//
// # What is promised
//
// A folder is taken if it is missing, empty, or belongs to a study. The first result makes it: a run that finds
// nothing leaves nothing behind. A cell is written into a temporary file, flushed, and renamed: it is there as a
// whole, or not at all, even if a process is killed or the power fails. A cell that was cut, changed, renamed or put there by
// another program is an error, never a result. Nothing is replaced but study.json, cells, and summaries that
// study.json lists, of which those go that are not made any more: what users put into the folder stays. Summaries are
// of all cells that are there when the last of several processes ends, where the file system has locks.
//
// The package knows no flags, no commands and no domain, and prints nothing.
package study
