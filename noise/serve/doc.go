// Package serve hands out the noise of a node step by step to its trainer, whatever language that is written in: over a
// Unix socket, or a loopback address with a token.
//
// # The protocol, version 1
//
// Lines are UTF-8, end with a line feed, have their fields separated by one space, and at most MaxLine bytes; only the
// replies to hello and state may be longer. A client begins with the line
//
//	mafalda 1            on a Unix socket, or
//	mafalda 1 TOKEN      on a loopback address
//
// and gets "hello " and an Info as JSON. After that it asks
//
//	row T float64|float32 [OFFSET LENGTH]   gets "row T FORMAT OFFSET LENGTH BYTES", and then as many bytes, little-endian
//	unsent T                                gets the same line
//	sending T DIGEST                        gets "sending T"
//	state                                   gets "state " and an Info as JSON
//	close                                   is hung up on
//
// or is told "error CODE text", with one of the codes below. What T may be, and what the requests mean, is that of
// noise.Issuer: the next row is drawn when it is asked for, never before, and it is on disk as handed out before its
// first byte leaves; the same row, or any range of it in either format, comes again until the next one is asked for.
//
// # Many clients
//
// There may be several connections, as of the parts of one model. Requests are served one after another, and there is
// one place for all of them. Who vanishes, or does not read, is hung up on after a while; the row is still there.
//
// # Secrets
//
// Whoever can read rows can subtract them. A socket is for its owner alone (mode 0600). Other users of a machine can
// connect to a loopback address: that takes a token from a file that is for its owner alone, and is compared in constant
// time. Other addresses are refused: nothing here is encrypted.
package serve
