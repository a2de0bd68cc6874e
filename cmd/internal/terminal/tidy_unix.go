//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mafalda/internal/files"
)

// A caller and this program can be killed at the same time, and then neither removes the lent folder. So a third process,
// mafalda tidy, waits until both are gone.

const (
	tidyName  = "tidy"
	ownerName = "owner" // a file in the lent folder that the caller has locked as long as it lives
	lifeline  = 3       // the descriptor of a pipe that closes when the program ends

	patience = 2 * time.Second // until a caller counts as one that lives on
)

// startTidy starts the process that outlives this one. Without it the folder is left to the caller's next process.
func startTidy(stdin io.Reader, folder string) {
	pipe, there := stdin.(*os.File)
	self, err := os.Executable()
	if !there || err != nil {
		return
	}
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	defer read.Close()
	cmd := exec.Command(self, tidyName, folder)
	cmd.Stdin, cmd.ExtraFiles = pipe, []*os.File{read}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what kills the program by its group does not kill it
	if cmd.Start() != nil {
		write.Close()
		return
	}
	go func() {
		_ = cmd.Wait()
		runtime.KeepAlive(write) // the system closes it when the program ends, however that is
	}()
}

// NewTidyCmd returns the hidden command that startTidy runs: it waits until stdin and the lifeline are closed, and then removes the
// folder, unless a living process has locked the file in it.
func NewTidyCmd() *cobra.Command {
	return &cobra.Command{
		Use:     tidyName + " FOLDER",
		Short:   "Remove a temporary folder when nobody is left who uses it",
		Example: "  mafalda tidy /tmp/mafalda-python-x",
		Hidden:  true,
		Args:    ExactArgs(1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, _ = io.Copy(io.Discard, cmd.InOrStdin())
			_, _ = io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
			return removeUnowned(args[0], patience)
		},
	}
}

// removeUnowned removes a lent folder whose owner is gone, or goes within some time.
func removeUnowned(folder string, patience time.Duration) error {
	if !strings.HasPrefix(filepath.Base(folder), folderPrefix) {
		return Usagef("%s: the name of a folder that is removed begins with %s", folder, folderPrefix)
	}
	f, err := os.OpenFile(filepath.Join(folder, ownerName), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the folder is gone, or was never lent
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for end := time.Now().Add(patience); ; time.Sleep(patience / 40) { // a caller that sees the program die may be killed next
		err := files.TryLock(f)
		switch {
		case err == nil:
			return os.RemoveAll(folder)
		case !errors.Is(err, files.ErrLocked):
			return err
		case time.Now().After(end):
			return nil // the caller lives, and keeps it
		}
	}
}
