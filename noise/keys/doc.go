// Package keys lets two nodes make the same secret rows: what they own, what they tell each other, and the key of a
// pair that comes of it.
//
// # Keys
//
// A node has a private X25519 key in a file that only its owner can read (New, Save, Load), and a public one, a line of
// a file that all nodes have (Directory): label, key, fingerprint. Fingerprints are for people, who compare them by
// another way than the file came.
//
// # Runs
//
// Before a run every node announces it (Announce): label, public key, a fresh nonce, the export's hash and what else
// both ends must have alike (Terms), with a tag for every neighbour, which only the two of them can make. Who has the
// announcements of its neighbours meets them (Meet): the keys and terms are compared, the tags checked, and every pair
// gets
//
//	run  = SHA-256 of both announcements, nonces included
//	key  = HKDF-SHA256(X25519 of the two, salt run, info: export, labels, public keys, run)
//
// the same at both ends. The own nonce is fresh, so the key is, whatever a neighbour or anybody in between sends again.
//
// # Once only
//
// Meeting.Begin marks the announcements as used, in a folder beside the private key, before there is a row: none of
// them begins a second run. The folder is made with the key; without it nothing begins.
//
// # What it does not give
//
// Keys are derived from the nodes' long-lived ones: who gets hold of a private key later, and has recorded the
// announcements, can make the shared rows of runs that are over. Who can change messages on their way can keep nodes
// from meeting, or let two ends have different keys, which costs accuracy and no privacy: M with a pair whose ends are
// independent hides every node at least as well (docs/secrets-runtime.md).
//
// All numbers of bytes are written before the bytes (fields), so that no two things are hashed alike.
package keys
