// Package serve hands out the noise of a node step by step to its trainer, whatever language that is written in:
// over a Unix socket, or a loopback address with a token. Call Serve, or, as a trainer in Go, Dial.
//
// # The protocol, version 2
//
// A connection begins with four lines, UTF-8, of at most MaxLine bytes, each ended by a line feed, within 5 seconds:
//
//	client   mafalda 2 {"export": E, "node": N, "dim": d, "address": A, "nonce": NONCE, "token": true}
//	server   mafalda 2 NONCE
//	client   proof DIGITS
//	server   proof DIGITS
//
// E is the SHA-256 of manifest.json. Nonces are 32 random bytes each; they, proofs and digests are written in hexadecimal
// digits. The address A is where the client has connected to, as 127.0.0.1:7070 or [::1]:7070, and empty of a Unix socket,
// whose token is false. Then
//
//	secret   HMAC-SHA256(token, first line ‖ second line), each with its line feed; without a token the key is empty
//	proofs   HMAC-SHA256(secret, "client proof"), HMAC-SHA256(secret, "server proof")
//	keys     HMAC-SHA256(secret, "client frames"), HMAC-SHA256(secret, "server frames")
//
// All that follows, in both directions, is frames; n counts those of a direction from 0, and numbers are little-endian:
//
//	length   4 bytes: of the content, 1 to MaxFrame
//	content  as many bytes as length says
//	code     32 bytes: HMAC-SHA256(the direction's key, n as 8 bytes ‖ length ‖ content)
//
// The server's first frame is "hello " and an Info as JSON; if the client wants other rows than the server has, it is
// hung up on then. After that each frame of the client, of at most MaxLine bytes, asks one of
//
//	row T float64|float32 [OFFSET LENGTH]   gets "row T FORMAT OFFSET LENGTH BYTES", and then BYTES bytes in frames
//	unsent T                                gets the same
//	sending T DIGEST                        gets "sending T"
//	state                                   gets "state " and an Info as JSON
//	spent                                   gets "spent " and a noise.Spent as JSON, or null without a privacy level
//	close                                   is hung up on
//
// or is told "error CODE text", with one of the codes below; before the proofs that is a line. One space is between two
// fields; numbers are decimal, without signs and leading zeros. What T may be, and
// what the requests mean, is said by noise.Issuer: the next row is drawn when it is asked for, never before, and it
// is on disk as handed out before its first byte leaves; the same row, or any range of it in either format, comes
// again until the next one is asked for.
//
// # Many clients
//
// There may be several connections, as of the parts of one model. Requests are served one after another, and there
// is one place for all of them. A client that vanishes, or does not read, is hung up on after 30 seconds and a second for
// every megabyte; the row is still there. A client that has not proven the token has 5 seconds, and one of 128 places: when
// all are taken, the one that is there longest has to go, but not in its first 50 ms. A client that was hung up on before it
// could prove the token tries again. So strangers keep nobody out.
//
// # Secrets
//
// Whoever can read rows can subtract them. A socket is for its owner alone (mode 0600). Other users of a machine
// can connect to a loopback address, and listen there when the server is gone. So both sides prove that they know
// the token, from a file that is for its owner alone, and it is never sent; every frame is authenticated; and a
// relay at another address is refused. Nothing is encrypted: whoever may read the packets of the machine, as root
// may, reads the rows. Other than loopback addresses are refused by both sides. Without a token the same frames
// tell damaged rows, and rows of two programs that use one connection, from good ones.
package serve
