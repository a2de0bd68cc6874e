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
// # Bytes
//
// fields(a, b, …) is each byte string behind its length as eight bytes, so that no two things are hashed alike. Numbers
// are eight bytes. Both are written least significant first.
//
//	fingerprint  first 16 bytes of SHA-256(fields("mafalda fingerprint 1", label, public key))
//	body         fields("mafalda run 1", label, public key, nonce, export, dim, noise_std, grid, check):
//	             32 bytes each of key, nonce (random) and export (SHA-256 of manifest.json), dim a number, noise_std and
//	             grid (0: none) IEEE 754 doubles, check 0 or 1
//	point        X25519 of the private key and the other's public one; all zero is refused
//	tag          HMAC-SHA256 of body with the key HKDF-SHA256(point, salt empty,
//	             info = fields("mafalda announcement 1", from, to, key of from, key of to)), 32 bytes
//	run          SHA-256(fields("mafalda pair run 1", body of the smaller label, body of the larger label))
//	pair's key   HKDF-SHA256(point, salt = run, info = fields("mafalda pair 1", export, smaller label, larger label,
//	             key of the smaller label, key of the larger label, run)), 32 bytes
//
// Labels are compared by bytes. From the pair's key rows are drawn as from a node's own (package noise). Simulated:
// SHA-256("mafalda noise pair 1" ‖ seed ‖ length of the smaller label ‖ smaller label ‖ larger label). Z is made in this
// order: own row times own_std, then ± std · shared row for every neighbour in ascending order of indices, each product
// rounded before it is added.
//
// # Files
//
//	NODE.key       one line of JSON: format, node, private, public; mode 0600, or it is refused; never replaced
//	NODE.key.runs  a folder with an empty file for every announcement used, own ones and neighbours', named by the
//	               SHA-256 of its body; of a link to a key it is the one beside what the link leads to; a key of several
//	               names (hard links) is refused
//	keys.csv       "label",key,fingerprint: a line a node, key and fingerprint hexadecimal in lower case; # starts a comment
//	NODE.run       JSON: format, node, key, nonce, export, dim, noise_std, grid, check, tags (of every neighbour: node, tag)
//	NODE.state     docs/noise.md, with format "mafalda noise state 3": also pairs (neighbour, run, key), in ascending
//	               order of indices, and check
package keys
