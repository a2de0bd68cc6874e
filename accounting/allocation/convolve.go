package allocation

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// chunk is how many terms of a convolution a column of its matrix product adds.
const chunk = 16

// kernel is a part of a convolution: terms from..from+len(terms)-1, at most chunk of them.
type kernel struct {
	from  int
	terms []float64
}

// batch is how many kernels are convolved at once.
const batch = 24

// convolutions calls add once for every kernel, with its number and its convolution with x, without its shift: element s
// is Σ_j x[s-j] terms[j], for s below len(x)+chunk-1. It is a row of the product of kernels by a Toeplitz matrix of x.
func convolutions(x []float64, kernels []kernel, add func(c int, row []float64)) {
	toeplitz := dense.NewGeneral(chunk, len(x)+chunk-1)
	for j := range chunk {
		copy(toeplitz.Data[j*toeplitz.Stride+j:], x)
	}
	product := dense.NewGeneral(batch, toeplitz.Cols)
	for first := 0; first < len(kernels); first += batch {
		terms := dense.NewGeneral(batch, chunk)
		of := kernels[first:min(first+batch, len(kernels))]
		for c, k := range of {
			copy(terms.Data[c*chunk:], k.terms)
		}
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, terms, toeplitz, 0, product)
		for c := range of {
			add(first+c, product.Data[c*product.Stride:][:product.Cols])
		}
	}
}

// convolve returns the convolution of two sequences: Σ_j x[s-j] y[j].
func convolve(x, y []float64) []float64 {
	var kernels []kernel
	for from := 0; from < len(y); from += chunk {
		kernels = append(kernels, kernel{from, y[from:min(from+chunk, len(y))]})
	}
	sum := make([]float64, len(x)+len(y)-1+chunk)
	convolutions(x, kernels, func(c int, row []float64) {
		floats.Add(sum[kernels[c].from:][:len(row)], row)
	})
	return sum[:len(x)+len(y)-1]
}
