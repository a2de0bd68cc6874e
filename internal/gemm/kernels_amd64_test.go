package gemm

import "golang.org/x/sys/cpu"

// available returns all engines that this machine can run.
func available() (d []*engine[float64], s []*engine[float32]) {
	d, s = []*engine[float64]{portableDoubles}, []*engine[float32]{portableSingles}
	add := func(x *engine[float64], y *engine[float32]) { d, s = append(d, x), append(s, y) }
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		add(assembly256())
	}
	if hasAVX512() {
		add(assembly512())
	}
	return d, s
}
