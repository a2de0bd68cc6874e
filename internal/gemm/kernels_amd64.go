package gemm

import "golang.org/x/sys/cpu"

// The kernels in assembly. They touch k·MR numbers of a, k·NR of b and the tile of c, stride numbers from row to row.

//go:noescape
func double512(k int, a, b, c *float64, stride int)

//go:noescape
func single512(k int, a, b, c *float32, stride int)

//go:noescape
func double256(k int, a, b, c *float64, stride int)

//go:noescape
func single256(k int, a, b, c *float32, stride int)

//go:noescape
func rotate512(count int, turns, rows *float64)

//go:noescape
func rotate256(count int, turns, rows *float64)

func init() {
	switch {
	case hasAVX512():
		doubles, singles = assembly512()
		rotate = rotate512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		doubles, singles = assembly256()
		rotate = rotate256
	}
}

func assembly512() (*engine[float64], *engine[float32]) {
	return &engine[float64]{"AVX-512", 8, 24, double512}, &engine[float32]{"AVX-512", 8, 48, single512}
}

func assembly256() (*engine[float64], *engine[float32]) {
	return &engine[float64]{"AVX2", 4, 12, double256}, &engine[float32]{"AVX2", 4, 24, single256}
}

// hasAVX512 looks at both names that GODEBUG can switch off.
func hasAVX512() bool { return cpu.X86.HasAVX512 && cpu.X86.HasAVX512F }
