package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mafalda/internal/files"
)

// caller is another program that has started this one, such as a Python process. It can ask for progress in lines that
// programs read, and have this program end with it, which then removes a folder that it has lent.
type caller struct {
	progress string
	folder   string
	gone     atomic.Bool
	ended    atomic.Bool // the command
}

const (
	jsonProgress = "json"
	folderPrefix = "mafalda-" // of the folders that may be lent

	callerPatience = 3 * time.Second // that an interrupted command has to end by itself
)

// bind adds the flags of callers, which are in no help.
func (c *caller) bind(root *cobra.Command) {
	fl := root.PersistentFlags()
	fl.StringVar(&c.progress, "progress", "", "json: progress as lines of JSON on stderr")
	fl.StringVar(&c.folder, "lent-folder", "", "a temporary folder of the caller, or empty: when stdin closes, end and remove it")
	for _, name := range []string{"progress", "lent-folder"} {
		if err := fl.MarkHidden(name); err != nil {
			panic(err) // a flag that does not exist
		}
	}
}

// start does what the flags say. It fails if they have other values.
func (c *caller) start(cmd *cobra.Command) error {
	switch c.progress {
	case "":
	case jsonProgress:
		cmd.Root().SetErr(&eventWriter{cmd.Root().ErrOrStderr()})
	default:
		return Usagef("--progress %q: must be json", c.progress)
	}
	if f := cmd.Flag("lent-folder"); f == nil || !f.Changed {
		return nil
	}
	if c.folder != "" && !strings.HasPrefix(filepath.Base(c.folder), folderPrefix) {
		return Usagef("--lent-folder %s: the name of a folder that is removed begins with %s", c.folder, folderPrefix)
	}
	signal.Ignore(syscall.SIGPIPE) // a caller that is gone reads no errors, and its folder is still to be removed
	go c.wait(cmd.InOrStdin())
	return nil
}

// wait ends the program once stdin is closed: the caller is gone, and the result is not wanted. Commands that have
// something to save end as on Ctrl-C, if they do so soon.
func (c *caller) wait(stdin io.Reader) {
	_, _ = io.Copy(io.Discard, stdin)
	c.gone.Store(true)
	if interrupt() {
		time.Sleep(callerPatience)
	}
	if c.ended.Load() {
		return
	}
	files.RemoveTemporaries()
	c.end()
	os.Exit(ExitInterrupted)
}

// end removes the folder of a caller that is gone.
func (c *caller) end() {
	c.ended.Store(true)
	if c.folder != "" && c.gone.Load() {
		_ = os.RemoveAll(c.folder) // an error would be heard by no one
	}
}

// eventWriter is stderr for a caller that reads progress as lines of JSON.
type eventWriter struct{ io.Writer }

// progressEvent is a line of progress: what is being done, and how much of it is done, where that is known.
type progressEvent struct {
	Doing    string   `json:"doing"`
	Fraction *float64 `json:"fraction,omitempty"`
}

func (w *eventWriter) tell(e progressEvent) {
	if line, err := json.Marshal(e); err == nil {
		fmt.Fprintf(w, "%s\n", line)
	}
}
