// Package strategy says what a strategy is: the matrix C that privacy is paid for, what it costs the node that runs
// it, and how that node streams C⁻¹Z in little memory. How the best one is found is package factorize's business.
//
// # Notation
//
//	T     steps
//	C     strategy        T×T lower triangular, positive diagonal
//	C⁻¹   noising matrix  T×T; a node adds row t of C⁻¹Z, ξ_t, in step t
//	Z     noise           T rows of independent noise, z_t, a number for each parameter of the model
//	X     strategy Gram   CᵀC: all that sensitivity and error depend on
//	w, d  bands, buffers  how many numbers a class has, and so what a node keeps
//
// # The classes
//
// A Strategy of a class is the optimum of factorize for that class, or something near it in closed form. The fewer
// numbers, the less a node keeps, and the more error it makes.
//
//	class           C                                    kept     operations  closed forms
//	dense           any entries                          T rows   2T          Tree; FromGram of any X
//	banded          C[t,s] = 0 for t-s ≥ w               w-1      2w
//	toeplitz        C[t,s] = c_(t-s)·d_s, w coefficients w-1      2w          SquareRoot
//	blt             c(x) rational with d poles           d        4d+1
//	banded-inverse  C⁻¹[t,s] = r_(t-s), w coefficients   w-1      2w          BandedInverseSquareRoot
//
// What is kept, and the operations of a step, count for each parameter of the model (NodeCost). Identity is the
// baseline DP-D-SGD, independent noise, and AntiPGD takes back the noise of the step before: neither is a class of
// its own, and their Parameters describe a toeplitz and a banded-inverse strategy.
//
// FromGram has the trap of this field in it: C is not the textbook Cholesky factor of X.
//
// # The filter
//
// C⁻¹Z is never stored. A Filter makes ξ_t from z_t and a few rows that it keeps, by one of four recursions:
//
//	banded, toeplitz  ξ_t = (z_t - Σ_{j≥1} C[t,t-j] ξ_(t-j))/C[t,t]    keeps the last ξ
//	banded-inverse    ξ_t = Σ_j r_j z_(t-j)                            keeps the last z
//	blt               1/c(x), section by section                       keeps a buffer for each pole
//	dense             ξ_t = Σ_s C⁻¹[t,s] z_s                           keeps all z, or has them made again (Recombiner)
//
// Products and sums are rounded one after the other, so that the same Z and coefficients make the same noise on every
// machine. Package noise runs a filter on the rows of a model; package threat runs it on unit vectors, and reads off
// how the noise of a step is combined. It is the same code: what is accounted for is what is drawn. (Of strategies that
// keep many rows threat takes C⁻¹ itself.)
//
// # Sensitivity
//
// Sensitivity is what C costs in privacy under a participation schema, rounded up, from the entries of CᵀC; for Toeplitz
// strategies of more than LongSteps steps a bound in O(kT). Normalize scales C to sensitivity 1.
//
// # Parameters and the registry
//
// Parameters are what a manifest holds, and Build makes the strategy of them again. Strategies of a new class are a
// new file with the methods of Strategy, or of powerSeries if they are Toeplitz, a line in the registry (parameters.go),
// keys in Parameters if it needs other ones, and a line in the tests' draws, which send it through the contract of all.
//
// # Sources
//
// Dense: Denisov, McMahan, Rush, Smith & Thakurta 2022. Banded: Choquette-Choo et al. 2023. Toeplitz: Fichtenberger,
// Henzinger & Upadhyay 2023; Kalinin & Lampert 2024. BLT: Dvijotham, McMahan, Pillutla, Steinke & Thakurta 2024.
// Banded inverses: Kalinin, McKenna, Pradhan & Lampert 2025. Trees: Dwork et al. 2010, Honaker 2015. AntiPGD:
// Koloskova et al. 2023. Loss and sensitivity: Bellet et al.
//
// The package knows schemas only as participation.Schema, and nothing of privacy, graphs and files.
package strategy
