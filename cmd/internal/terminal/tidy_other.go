//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package terminal

import (
	"io"

	"github.com/spf13/cobra"
)

// startTidy does nothing: the folder of who was killed together with this program is left to the caller's next process.
func startTidy(io.Reader, string) {}

// NewTidyCmd returns a command that does nothing.
func NewTidyCmd() *cobra.Command {
	return &cobra.Command{Use: "tidy", Short: "Do nothing", Example: "  mafalda tidy", Hidden: true, Run: func(*cobra.Command, []string) {}}
}
