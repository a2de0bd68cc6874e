//go:build !linux

package serve

import "net"

// checkPeer does nothing: who listens at a Unix socket is not known in one way everywhere.
func checkPeer(net.Conn) error { return nil }
