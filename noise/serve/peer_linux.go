package serve

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer is ErrProof unless the user's own process, or root's, listens at the other end of a Unix socket. In a folder
// that others may write to, another user can listen where the server did.
func checkPeer(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return checkUser(int(peer.Uid), os.Geteuid())
}

func checkUser(there, here int) error {
	if there != here && there != 0 {
		return fmt.Errorf("%w: it is a process of user %d, and this is user %d", ErrProof, there, here)
	}
	return nil
}
