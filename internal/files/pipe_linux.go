package files

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Pipe is the end of a pipe that is written to. It knows what the reader has not read yet. Writing to it after the
// reader has gone is an error, not the end of the program, whatever it is called.
type Pipe struct{ file *os.File }

// NewPipe returns the pipe that a file is, or nil if it is none, or if the system does not tell what was read.
func NewPipe(f *os.File) *Pipe {
	info, err := f.Stat()
	if err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return nil
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3) // not standard output, whose errors end the program
	if err != nil {
		return nil
	}
	p := &Pipe{os.NewFile(uintptr(fd), f.Name())}
	if _, err := p.unread(); err != nil {
		p.file.Close()
		return nil
	}
	return p
}

// Write writes to the pipe.
func (p *Pipe) Write(b []byte) (int, error) { return p.file.Write(b) }

// Close closes this end, not the file it was made of.
func (p *Pipe) Close() error { return p.file.Close() }

// Drain waits until the reader has read everything, or is gone, and returns how many bytes it has not read.
func (p *Pipe) Drain() (unread int, err error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		gone := p.Gone() // before looking: who is gone reads no more
		if unread, err = p.unread(); err != nil || unread == 0 || gone {
			return unread, err
		}
		time.Sleep(wait)
	}
}

// Gone reports whether nobody has the other end any more.
func (p *Pipe) Gone() bool {
	at := []unix.PollFd{{Fd: int32(p.file.Fd())}}
	for {
		_, err := unix.Poll(at, 0)
		if err != unix.EINTR {
			return err == nil && at[0].Revents&unix.POLLERR != 0
		}
	}
}

func (p *Pipe) unread() (int, error) { return unix.IoctlGetInt(int(p.file.Fd()), unix.TIOCINQ) }
