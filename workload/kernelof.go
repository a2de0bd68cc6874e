package workload

import "gonum.org/v1/gonum/mat"

// KernelOf returns the kernel whose Gram matrix is h: k[p,q] = H[T-1-p, T-1-q] - H[T-p, T-q]. It is for the errors of
// single steps where only the h of a plain workload is known; the differences cost some digits of late steps.
func KernelOf(h mat.Symmetric) *Kernel {
	steps := h.SymmetricDim()
	k := make([]float64, steps*steps)
	for p := range steps {
		for q := range p + 1 {
			v := h.At(steps-1-p, steps-1-q)
			if q > 0 {
				v -= h.At(steps-p, steps-q)
			}
			k[p*steps+q] = v
		}
	}
	return newKernel(Spec{}, steps, k)
}
