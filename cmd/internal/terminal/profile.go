package terminal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiling writes profiles of a command, for go tool pprof.
type profiling struct {
	cpu, memory         string
	cpuFile, memoryFile *os.File
}

func (p *profiling) bind(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this new `file`, for go tool pprof")
	fl.StringVar(&p.memory, "memprofile", "", "write a profile of allocations to this new `file`")
}

func (p *profiling) start() error {
	for _, f := range []struct {
		flag, path string
		file       **os.File
	}{{"cpuprofile", p.cpu, &p.cpuFile}, {"memprofile", p.memory, &p.memoryFile}} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.file, err = createNew(f.path); err != nil {
			return errors.Join(fmt.Errorf("--%s: %w", f.flag, err), p.discard())
		}
	}
	if p.memoryFile != nil {
		runtime.MemProfileRate = 1 << 16
	}
	if p.cpuFile == nil {
		return nil
	}
	if err := pprof.StartCPUProfile(p.cpuFile); err != nil {
		return errors.Join(err, p.discard())
	}
	return nil
}

// createNew makes a new file: one that has the name already stays as it is.
func createNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s is there already: choose another name, or remove it", path)
	}
	return f, err
}

// discard removes what start has made, after an error.
func (p *profiling) discard() error {
	var errs []error
	for _, f := range []**os.File{&p.cpuFile, &p.memoryFile} {
		if *f != nil {
			errs = append(errs, (*f).Close(), os.Remove((*f).Name()))
			*f = nil
		}
	}
	return errors.Join(errs...)
}

// stop ends the profiles, however the command ended.
func (p *profiling) stop() error {
	var err error
	if p.cpuFile != nil {
		pprof.StopCPUProfile()
		err = p.cpuFile.Close()
	}
	if p.memoryFile == nil {
		return err
	}
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(p.memoryFile, 0), p.memoryFile.Close())
}
