// Package engine computes the cells of a grid as a pipeline of Apache Beam, on any of its runners, in four parts:
//
//   - The program with the command (Engine.Compute) makes the same study as always, packs the command and the bytes of
//     all files that it names into a job, opens a desk, and runs a pipeline whose elements are the cells that have no
//     results.
//   - The desk is a small HTTP server in that program. Workers fetch the job there, ask whether a cell is still wanted,
//     and bring results, which go into the folder of the study one by one. No disk is shared.
//   - A worker unpacks the job once, runs the same command up to the point where cells would be computed, and checks
//     that it has made the same study: its key is the hash of the program's version and of all inputs. Then it computes
//     cells.
//   - The pool ([Pool]) starts workers, each a process of its own, when a runner asks it to: Beam's environment EXTERNAL.
//
// Runners may compute a cell twice, or begin it again on another machine. The first result that arrives is kept.
package engine
