//go:build !amd64

package rows

func fastest() *kernels { return portable }

// available returns all kernels that this machine can run, for tests.
func available() []*kernels { return []*kernels{portable} }
