// Package export writes strategies to a folder and reads them back. It computes nothing.
//
// # An export
//
//	C.npy, C_inv.npy   float64, little-endian, C order, T×T: the strategy, scaled to sensitivity one, and its inverse
//	C.csv, C_inv.csv   the same as text, a line a row, 17 significant digits (on request)
//	nodes.csv          the numbering of the nodes: index, label, degree
//	manifest.json      everything needed to check the export, with the SHA-256 of every other file
//
// Node v adds row t of C⁻¹Z to its gradient sum at step t, with the standard deviation noise_std per coordinate of Z.
//
// # Atomicity
//
// WriteDir writes into a temporary folder beside the target, flushes it to the disk and renames it into place. An
// interrupted run leaves the old export, or the new one, never half; and never anybody else's files.
package export
