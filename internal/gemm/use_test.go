package gemm_test

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	"mafalda/internal/gemm"
)

// What gonum uses once this package is imported.
var (
	double64 = blas64.Implementation()
	single32 = blas32.Implementation()
)

func TestUse(t *testing.T) {
	if _, ok := double64.(blasgonum.Implementation); !ok {
		t.Errorf("importing the package made gonum use %T", double64)
	}
	if _, ok := single32.(blasgonum.Implementation); !ok {
		t.Errorf("importing the package made gonum use %T in single precision", single32)
	}
	gemm.Use()
	defer func() {
		blas64.Use(blasgonum.Implementation{})
		blas32.Use(blasgonum.Implementation{})
		lapack64.Use(lapackgonum.Implementation{})
	}()
	if _, ok := blas64.Implementation().(blasgonum.Implementation); ok {
		t.Error("after Use gonum uses its own products")
	}
	if _, ok := blas32.Implementation().(blasgonum.Implementation); ok {
		t.Error("after Use gonum uses its own products in single precision")
	}
}
