// Package serve hands out the noise of a node step by step to its trainer, whatever language that is written in:
// over a Unix socket, or a loopback address with a token. Call Serve, or, as a trainer in Go, Dial.
//
// # The protocol, version 2
//
// A connection begins with four lines, UTF-8, of at most MaxLine bytes, each ended by a line feed:
//
//	client   mafalda 2 {"export":…,"node":…,"dim":…,"address":…,"nonce":…,"token":…}
//	server   mafalda 2 NONCE
//	client   proof DIGITS
//	server   proof DIGITS
//
// Nonces are 32 random bytes each; they, proofs and digests are written in hexadecimal digits. The address is where
// the client has connected to, as 127.0.0.1:7070, and empty of a Unix socket. Then
//
//	secret   HMAC-SHA256 of the first two lines, line feeds and all, with the token as the key, or an empty one
//	proofs   HMAC-SHA256 of "client proof" and "server proof" with the secret
//	keys     HMAC-SHA256 of "client frames" and "server frames" with the secret
//
// All that follows, in both directions, is frames: the length of what a frame carries, 4 bytes; what it carries, 1
// to MaxFrame bytes; and 32 bytes of HMAC-SHA256, with the direction's key, of the number of the frame (8 bytes,
// from 0 in each direction), the length, and what it carries. Numbers are little-endian.
//
// The server's first frame is "hello " and an Info as JSON; if the client wants other rows than the server has, it is
// hung up on then. After that each frame of the client, of at most MaxLine bytes, asks one of
//
//	row T float64|float32 [OFFSET LENGTH]   gets "row T FORMAT OFFSET LENGTH BYTES", and then so many bytes in frames
//	unsent T                                gets the same
//	sending T DIGEST                        gets "sending T"
//	state                                   gets "state " and an Info as JSON
//	spent                                   gets "spent " and a noise.Spent as JSON, or null without a privacy level
//	close                                   is hung up on
//
// or is told "error CODE text", with one of the codes below; before the proofs that is a line. What T may be, and
// what the requests mean, is said by noise.Issuer: the next row is drawn when it is asked for, never before, and it
// is on disk as handed out before its first byte leaves; the same row, or any range of it in either format, comes
// again until the next one is asked for.
//
// # Many clients
//
// There may be several connections, as of the parts of one model. Requests are served one after another, and there
// is one place for all of them. Who vanishes, or does not read, is hung up on after a while; the row is still
// there. Who has not proven the token has 5 seconds, and one of 128 places, which the next one may need: strangers
// keep nobody out.
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
