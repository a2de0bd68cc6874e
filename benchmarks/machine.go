package benchmarks

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"mafalda/internal/gemm"
)

// Machine says where and when something was measured.
type Machine struct {
	Date       string `json:"date"` // of the first measurement, as in 2026-01-31
	CPU        string `json:"cpu"`  // model; the architecture where the system does not say
	Processors int    `json:"processors"`
	OS         string `json:"os"`
	Go         string `json:"go"`
	Kernels    string `json:"kernels"` // of matrix products
}

// ThisMachine describes this machine, today.
func ThisMachine() Machine {
	m := Machine{Date: time.Now().Format(time.DateOnly), CPU: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		OS: runtime.GOOS, Go: runtime.Version(), Kernels: gemm.Name()}
	if model := field("/proc/cpuinfo", "model name", ":"); model != "" {
		m.CPU = model
	}
	if name := field("/etc/os-release", "PRETTY_NAME", "="); name != "" {
		m.OS += " (" + strings.Trim(name, `"`) + ")"
	}
	return m
}

// field returns what a file says after a name and a separator, in the first such line; "" if it does not.
func field(path, name, separator string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), separator); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Line says in a line what machine it is.
func (m Machine) Line() string {
	return fmt.Sprintf("%s, %s, %d processors, %s, %s, %s kernels", m.Date, m.CPU, m.Processors, m.OS, m.Go, m.Kernels)
}
