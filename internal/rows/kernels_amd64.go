package rows

import "golang.org/x/sys/cpu"

//go:noescape
func fill512(s *Sampler, refills int)

//go:noescape
func central512(s *Sampler, n int) int

//go:noescape
func tail512(s *Sampler, n int) bool

//go:noescape
func fill256(s *Sampler, refills int)

//go:noescape
func central256(s *Sampler, n int) int

//go:noescape
func tail256(s *Sampler, n int) bool

func settle()

//go:noescape
func scale512(dst, src *float64, c float64, n int)

//go:noescape
func addScaled512(dst, src *float64, c float64, n int)

//go:noescape
func addFour512(dst, weights *float64, rows **float64, n int)

//go:noescape
func cascade512(dst, src *float64, c *Cascade, kept *[]float64, n int)

//go:noescape
func level512(dst, src *float64, std float64, n int) (finite bool)

//go:noescape
func levelPast512(dst, src *float64, std float64, n int) (finite bool)

//go:noescape
func narrow512(dst *float32, src *float64, n int) (finite, exact bool)

//go:noescape
func grid512(row *float64, c *gridded, n int) (fits bool)

//go:noescape
func scale256(dst, src *float64, c float64, n int)

//go:noescape
func addScaled256(dst, src *float64, c float64, n int)

//go:noescape
func addFour256(dst, weights *float64, rows **float64, n int)

//go:noescape
func cascade256(dst, src *float64, c *Cascade, kept *[]float64, n int)

//go:noescape
func level256(dst, src *float64, std float64, n int) (finite bool)

//go:noescape
func levelPast256(dst, src *float64, std float64, n int) (finite bool)

//go:noescape
func narrow256(dst *float32, src *float64, n int) (finite, exact bool)

//go:noescape
func grid256(row *float64, c *gridded, n int) (fits bool)

var avx512 = &kernels{"AVX-512", fill512, central512, tail512, scale512, addScaled512, addFour512, cascade512, level512,
	levelPast512, settle, grid512, narrow512}

var avx2 = &kernels{"AVX2", fill256, central256, tail256, scale256, addScaled256, addFour256, cascade256, level256,
	levelPast256, settle, grid256, narrow256}

func fastest() *kernels {
	all := available()
	return all[len(all)-1]
}

// available returns all kernels that this machine can run, the fastest last.
func available() []*kernels {
	all := []*kernels{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		all = append(all, avx2)
	}
	if cpu.X86.HasAVX512 && cpu.X86.HasAVX512F { // GODEBUG can switch off either
		all = append(all, avx512)
	}
	return all
}
