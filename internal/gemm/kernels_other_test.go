//go:build !amd64

package gemm

// available returns all engines that this machine can run.
func available() (d []*engine[float64], s []*engine[float32]) {
	return []*engine[float64]{portableDoubles}, []*engine[float32]{portableSingles}
}
