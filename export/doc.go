// Package export writes strategies to a folder and reads them back. It computes nothing.
//
// # An export
//
//	C.npy, C_inv.npy   float64, little-endian, C order, T×T: the strategy, scaled to sensitivity one, and its inverse
//	C.csv, C_inv.csv   the same as text, a line a row, 17 significant digits (on request)
//	nodes.csv          the numbering of the nodes: index, label, degree; with shared noise own_std
//	W.npy, W.mtx       the gossip matrix, or those that take turns (Gossip); left out where it is very large
//	pairs.csv          label, label and standard deviation of every pair of nodes that shares noise (SharedNoise)
//	manifest.json      everything needed to check the export, with the SHA-256 of every other file
//
// Node v adds row t of C⁻¹Z to its gradient sum at step t, with the standard deviation noise_std per coordinate of Z.
//
// # Atomicity
//
// WriteDir writes into a temporary folder beside the target, flushes it to the disk and renames it into place. An
// interrupted run leaves the old export, or the new one, never half. A run that is killed may leave a folder named
// .mafalda-* beside the target. The next one that writes an export there removes it, if it was made on the same host,
// no process holds the lock that its maker had, and it holds nothing but files of an export; without locks (Windows, some
// network file systems) it stays, and can be removed by hand. A program that a signal ends removes its own by
// RemoveTemporaries of internal/files, which has what is atomic here.
//
// # Files that are not the export's
//
// What is replaced was listed in the manifest of an earlier export, and only where the caller says so
// (WriteOptions.Force). Anything else in the folder, a folder or link by the name of a listed file included, makes it
// not replaceable. CheckTarget tells all of this before the work is done.
//
// # Strategies of nodes
//
// SharedStrategy is what all nodes run, NodeStrategy what one does; StrategiesOn finds by their labels what the nodes
// of a network run, and refuses another network's.
//
// # Trust
//
// Load believes nothing: files are read no further than they are long, shapes must agree with the manifest, numbers
// must be finite, names without a path. Whether the hashes agree is another question (Export.CheckHashes), and whether the
// numbers are what the manifest says of them is one for those who can compute: this package cannot.
package export
