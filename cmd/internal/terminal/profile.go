package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"mafalda/internal/files"
)

// profiling writes profiles of a command, for go tool pprof.
type profiling struct {
	cpu, memory string
	begun       bool
	samples     bytes.Buffer // the CPU profile
}

func (p *profiling) bind(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this new `file`, for go tool pprof")
	fl.StringVar(&p.memory, "memprofile", "", "write a profile of allocations to this new `file`")
}

// start begins the profiles. It fails if a file has the name of one already.
func (p *profiling) start() error {
	for _, path := range []string{p.cpu, p.memory} {
		if _, err := os.Lstat(path); path != "" && (err == nil || p.cpu == p.memory) {
			return fmt.Errorf("%s is there already, or named twice: choose another name for a profile", path)
		}
	}
	p.begun = true
	if p.memory != "" {
		runtime.MemProfileRate = 1 << 16
	}
	if p.cpu != "" {
		return pprof.StartCPUProfile(&p.samples)
	}
	return nil
}

// stop ends the profiles, however the command ended, and writes them.
func (p *profiling) stop() (err error) {
	if p.begun && p.cpu != "" {
		pprof.StopCPUProfile()
		err = files.WriteFile(p.cpu, func(w io.Writer) error { _, err := p.samples.WriteTo(w); return err }, false)
	}
	if p.begun && p.memory != "" {
		write := func(w io.Writer) error { return pprof.Lookup("allocs").WriteTo(w, 0) }
		err = errors.Join(err, files.WriteFile(p.memory, write, false))
	}
	return err
}
