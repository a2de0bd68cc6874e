//go:build !unix

package cluster

import "os/exec"

// detach leaves the process as it is: it is ended at once, which harms nothing.
func detach(*exec.Cmd) {}
