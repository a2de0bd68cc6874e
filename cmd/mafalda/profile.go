package main

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
	cpu, memory string
	file        *os.File
}

func (p *profiling) bind(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this `file`, for go tool pprof")
	fl.StringVar(&p.memory, "memprofile", "", "write a profile of allocations to this `file`")
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return usage(p.start()) }
}

func (p *profiling) start() error {
	if p.memory != "" {
		runtime.MemProfileRate = 1 << 16
	}
	if p.cpu == "" {
		return nil
	}
	var err error
	if p.file, err = os.Create(p.cpu); err != nil {
		return fmt.Errorf("--cpuprofile: %w", err)
	}
	return pprof.StartCPUProfile(p.file)
}

// stop ends the profiles, however the command ended.
func (p *profiling) stop() error {
	var err error
	if p.file != nil {
		pprof.StopCPUProfile()
		err = p.file.Close()
	}
	if p.memory == "" {
		return err
	}
	file, created := os.Create(p.memory)
	if created != nil {
		return errors.Join(err, usagef("--memprofile: %v", created))
	}
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(file, 0), file.Close())
}
