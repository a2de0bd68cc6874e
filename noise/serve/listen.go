package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"mafalda/internal/files"
)

// Errors of places to listen at.
var (
	ErrListening = errors.New("somebody listens there already")
	ErrLoopback  = errors.New("not a loopback address")
	ErrToken     = errors.New("not a token file")
)

// ListenUnix listens on a Unix socket that only its owner can connect to. A socket without a listener is
// replaced; one with a listener is ErrListening, and any other file is files.ErrIrregular or fs.ErrExist. The
// socket goes away when the listener is closed, unless another one has come in its place.
func ListenUnix(path string) (net.Listener, error) {
	if strings.HasPrefix(path, "@") { // no name beside the file system
		path = "./" + path
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: private}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		if len(path) > 100 {
			err = fmt.Errorf("%w (the path has %d bytes, and those of sockets about 100 at most)", err, len(path))
		}
		return nil, err
	}
	s := &socket{UnixListener: l.(*net.UnixListener), path: path}
	s.SetUnlinkOnClose(false)
	if err = os.Chmod(path, 0o600); err == nil {
		s.mine, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, s.UnixListener.Close())
	}
	return s, nil
}

// socket takes its name away when it is closed.
type socket struct {
	*net.UnixListener
	path string
	mine os.FileInfo
}

// Close stops listening.
func (s *socket) Close() error {
	if there, err := os.Lstat(s.path); err == nil && os.SameFile(there, s.mine) {
		_ = os.Remove(s.path) // before another process can take the name
	}
	return s.UnixListener.Close()
}

// removeStale removes a socket without a listener.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket && runtime.GOOS != "windows": // which has no type for sockets
		return fmt.Errorf("%s is there, and no socket: %w", path, fs.ErrExist)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		return errors.Join(fmt.Errorf("%s: %w", path, ErrListening), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, info) {
		return fmt.Errorf("%s: %w", path, ErrListening) // it has just come
	}
	return os.Remove(path)
}

// ListenLoopback listens on a TCP address of this machine alone: 127.0.0.1 or ::1 and a port, of which 0 means any that
// is free. Other addresses are ErrLoopback, names among them: what they lead to can change.
func ListenLoopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", address, ErrLoopback, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s: %w, as 127.0.0.1:0 is: rows are not encrypted", address, ErrLoopback)
	}
	return net.Listen("tcp", address)
}

const (
	shortestToken = 16
	longestToken  = 1024
)

// ReadToken reads a token: one word, of at least 16 characters, in a file that only its owner may read. A file that
// does not exist is made, with a random one. Other files are ErrToken.
func ReadToken(path string) (string, error) {
	text, err := files.Read(path, longestToken+2)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: %w: others than its owner may read it (mode %v)", path, ErrToken, info.Mode().Perm())
	}
	token := strings.TrimRight(string(text), "\r\n")
	if len(token) < shortestToken || len(token) > longestToken || strings.ContainsFunc(token, notOfToken) {
		return "", fmt.Errorf("%s: %w: one word of %d to %d printable ASCII characters is expected", path, ErrToken,
			shortestToken, longestToken)
	}
	return token, nil
}

func notOfToken(r rune) bool { return r <= ' ' || r > '~' }

// newToken makes a token file.
func newToken(path string) (string, error) {
	token := rand.Text()
	if err := files.WritePrivate(path, []byte(token+"\n")); err != nil {
		return "", err
	}
	return token, nil
}

// Address says where a listener listens: a path, or address and port.
func Address(l net.Listener) string {
	if s, ok := l.(*socket); ok {
		return filepath.Clean(s.path)
	}
	return l.Addr().String()
}
