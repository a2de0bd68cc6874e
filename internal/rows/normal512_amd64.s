#include "textflag.h"
#include "go_asm.h"
#include "table_amd64.h"

// ChaCha8rand: 16 blocks side by side, word i of all of them in vector i. The rounds are those of ChaCha; only the key is
// added at the end. The blocks come out in groups of four, word by word.

DATA counters<>+0(SB)/8, $0x0000000100000000
DATA counters<>+8(SB)/8, $0x0000000300000002
DATA counters<>+16(SB)/8, $0x0000000500000004
DATA counters<>+24(SB)/8, $0x0000000700000006
DATA counters<>+32(SB)/8, $0x0000000900000008
DATA counters<>+40(SB)/8, $0x0000000b0000000a
DATA counters<>+48(SB)/8, $0x0000000d0000000c
DATA counters<>+56(SB)/8, $0x0000000f0000000e
GLOBL counters<>(SB), RODATA|NOPTR, $64

// the words of "expand 32-byte k"
DATA sigma512<>+0(SB)/8, $0x3320646e61707865
DATA sigma512<>+8(SB)/8, $0x6b20657479622d32
GLOBL sigma512<>(SB), RODATA|NOPTR, $16

// a step of four quarter rounds: a += b, d = (d ^ a) <<< n
#define ROUND(n, a0, b0, d0, a1, b1, d1, a2, b2, d2, a3, b3, d3) \
	VPADDD b0, a0, a0  \
	VPADDD b1, a1, a1  \
	VPADDD b2, a2, a2  \
	VPADDD b3, a3, a3  \
	VPXORD a0, d0, d0  \
	VPXORD a1, d1, d1  \
	VPXORD a2, d2, d2  \
	VPXORD a3, d3, d3  \
	VPROLD $n, d0, d0  \
	VPROLD $n, d1, d1  \
	VPROLD $n, d2, d2  \
	VPROLD $n, d3, d3

#define DOUBLEROUND \
	ROUND(16, Z0, Z4, Z12, Z1, Z5, Z13, Z2, Z6, Z14, Z3, Z7, Z15) \
	ROUND(12, Z8, Z12, Z4, Z9, Z13, Z5, Z10, Z14, Z6, Z11, Z15, Z7) \
	ROUND(8, Z0, Z4, Z12, Z1, Z5, Z13, Z2, Z6, Z14, Z3, Z7, Z15)  \
	ROUND(7, Z8, Z12, Z4, Z9, Z13, Z5, Z10, Z14, Z6, Z11, Z15, Z7) \
	ROUND(16, Z0, Z5, Z15, Z1, Z6, Z12, Z2, Z7, Z13, Z3, Z4, Z14) \
	ROUND(12, Z10, Z15, Z5, Z11, Z12, Z6, Z8, Z13, Z7, Z9, Z14, Z4) \
	ROUND(8, Z0, Z5, Z15, Z1, Z6, Z12, Z2, Z7, Z13, Z3, Z4, Z14)  \
	ROUND(7, Z10, Z15, Z5, Z11, Z12, Z6, Z8, Z13, Z7, Z9, Z14, Z4)

// four words of 16 blocks, to their places in the four groups
#define INTERLEAVE(at, a, b, c, d) \
	VSHUFI32X4 $0x44, b, a, Z24     \
	VSHUFI32X4 $0x44, d, c, Z25     \
	VSHUFI32X4 $0xEE, b, a, Z26     \
	VSHUFI32X4 $0xEE, d, c, Z27     \
	VSHUFI32X4 $0x88, Z25, Z24, Z28 \
	VSHUFI32X4 $0xDD, Z25, Z24, Z29 \
	VSHUFI32X4 $0x88, Z27, Z26, Z30 \
	VSHUFI32X4 $0xDD, Z27, Z26, Z31 \
	VMOVDQU64  Z28, (at+0)(DI)      \
	VMOVDQU64  Z29, (at+256)(DI)    \
	VMOVDQU64  Z30, (at+512)(DI)    \
	VMOVDQU64  Z31, (at+768)(DI)

// n pieces of what is needed next go into the second cache, four lines each
#define FETCH(n, loop, end) \
	MOVQ       n, R12    \
	TESTQ      R12, R12  \
	JZ         end       \
loop:                    \
	PREFETCHT1 0(R11)    \
	PREFETCHT1 64(R11)   \
	PREFETCHT1 128(R11)  \
	PREFETCHT1 192(R11)  \
	ADDQ       $256, R11 \
	DECQ       R12       \
	JNZ        loop      \
end:

// func fill512(s *Sampler, refills int)
TEXT ·fill512(SB), NOSPLIT, $0-16
	MOVQ s+0(FP), BX
	MOVQ refills+8(FP), CX
	MOVQ Sampler_soon(BX), R11
	LEAQ Sampler_bits(BX), DI
	LEAQ (8*const_Block)(DI), SI

fill512loop:
	VPBROADCASTD 0(SI), Z16
	VPBROADCASTD 4(SI), Z17
	VPBROADCASTD 8(SI), Z18
	VPBROADCASTD 12(SI), Z19
	VPBROADCASTD 16(SI), Z20
	VPBROADCASTD 20(SI), Z21
	VPBROADCASTD 24(SI), Z22
	VPBROADCASTD 28(SI), Z23
	VPBROADCASTD sigma512<>+0(SB), Z0
	VPBROADCASTD sigma512<>+4(SB), Z1
	VPBROADCASTD sigma512<>+8(SB), Z2
	VPBROADCASTD sigma512<>+12(SB), Z3
	VMOVDQA64 Z16, Z4
	VMOVDQA64 Z17, Z5
	VMOVDQA64 Z18, Z6
	VMOVDQA64 Z19, Z7
	VMOVDQA64 Z20, Z8
	VMOVDQA64 Z21, Z9
	VMOVDQA64 Z22, Z10
	VMOVDQA64 Z23, Z11
	VMOVDQU64 counters<>(SB), Z12
	VPXORQ    Z13, Z13, Z13
	VPXORQ    Z14, Z14, Z14
	VPXORQ    Z15, Z15, Z15
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill512fetch0, fill512fetched0)
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill512fetch1, fill512fetched1)
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill512fetch2, fill512fetched2)
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill512fetch3, fill512fetched3)
	VPADDD Z16, Z4, Z4
	VPADDD Z17, Z5, Z5
	VPADDD Z18, Z6, Z6
	VPADDD Z19, Z7, Z7
	VPADDD Z20, Z8, Z8
	VPADDD Z21, Z9, Z9
	VPADDD Z22, Z10, Z10
	VPADDD Z23, Z11, Z11
	INTERLEAVE(192, Z12, Z13, Z14, Z15) // the next seed is in it
	INTERLEAVE(0, Z0, Z1, Z2, Z3)
	INTERLEAVE(64, Z4, Z5, Z6, Z7)
	INTERLEAVE(128, Z8, Z9, Z10, Z11)
	ADDQ $(8*const_refill), DI
	MOVQ DI, SI
	DECQ CX
	JNZ  fill512loop
	MOVQ R11, Sampler_soon(BX)
	VZEROUPPER
	RET

// Four vectors of numbers go side by side: one alone would wait for its own results.

// an operation with the same operand for four vectors
#define FOUR(op, x, v0, v1, v2, v3) \
	op x, v0, v0 \
	op x, v1, v1 \
	op x, v2, v2 \
	op x, v3, v3

#define EACH(op, x0, x1, x2, x3, v0, v1, v2, v3) \
	op x0, v0, v0 \
	op x1, v1, v1 \
	op x2, v2, v2 \
	op x3, v3, v3

// the low 52 bits at SI as a fraction of the power of two in Z17, plus that
#define LOAD(at, v) \
	VMOVDQU64  at(SI), v         \
	VPTERNLOGQ $0xEA, Z17, Z16, v

#define LOADS \
	LOAD(0, Z0)   \
	LOAD(64, Z1)  \
	LOAD(128, Z2) \
	LOAD(192, Z3)

// Polynomials in r, Z4 to Z7: two of them, in Z8 to Z11 and in Z12 to Z15.
#define FIRST(at, w0, w1, w2, w3) \
	VMOVUPD (at)(DX), Z31   \
	VMULPD  Z4, Z31, w0     \
	VMULPD  Z5, Z31, w1     \
	VMULPD  Z6, Z31, w2     \
	VMULPD  Z7, Z31, w3

#define ADD(at, w0, w1, w2, w3) \
	VMOVUPD (at)(DX), Z31 \
	FOUR(VADDPD, Z31, w0, w1, w2, w3)

#define TIMES(w0, w1, w2, w3) \
	EACH(VMULPD, Z4, Z5, Z6, Z7, w0, w1, w2, w3)

#define STEP2(a, b) \
	TIMES(Z8, Z9, Z10, Z11)      \
	TIMES(Z12, Z13, Z14, Z15)    \
	ADD(a, Z8, Z9, Z10, Z11)     \
	ADD(b, Z12, Z13, Z14, Z15)

#define POLYNOMIALS(a, b) \
	FIRST(a, Z8, Z9, Z10, Z11)        \
	FIRST(b, Z12, Z13, Z14, Z15)      \
	ADD(a+1*64, Z8, Z9, Z10, Z11)     \
	ADD(b+1*64, Z12, Z13, Z14, Z15)   \
	STEP2(a+2*64, b+2*64)             \
	STEP2(a+3*64, b+3*64)             \
	STEP2(a+4*64, b+4*64)             \
	STEP2(a+5*64, b+5*64)             \
	STEP2(a+6*64, b+6*64)             \
	STEP2(a+7*64, b+7*64)

// a step of one, in Z12 to Z15
#define STEP(at) \
	TIMES(Z12, Z13, Z14, Z15) \
	ADD(at, Z12, Z13, Z14, Z15)

DATA places<>+0(SB)/8, $0x0000000000000000
DATA places<>+8(SB)/8, $0x0010000000000000
DATA places<>+16(SB)/8, $0x0020000000000000
DATA places<>+24(SB)/8, $0x0030000000000000
DATA places<>+32(SB)/8, $0x0040000000000000
DATA places<>+40(SB)/8, $0x0050000000000000
DATA places<>+48(SB)/8, $0x0060000000000000
DATA places<>+56(SB)/8, $0x0070000000000000
GLOBL places<>(SB), RODATA|NOPTR, $64

// the numbers of a vector that are not central, by |q|: their bits, with the places in the bits that are not used
#define GATHER(at, q) \
	VCMPPD      $0x1E, Z22, q, K1       \
	VMOVDQU64   at(SI), Z29             \
	VPTERNLOGQ  $0xBA, Z24, Z26, Z29    \
	VPCOMPRESSQ Z29, K1, Z29            \
	VMOVDQU64   Z29, (R8)(R10*8)        \
	KMOVW       K1, AX                  \
	POPCNTL     AX, AX                  \
	ADDQ        AX, R10                 \
	VPADDQ      Z25, Z24, Z24

// Divisions take longest, and one after the other: those of four vectors are done one by one between the steps of the
// next four.
#define QUOTIENT(i) \
	VMOVUPD    (64*i)(DI)(R14*1), Z28                      \
	VDIVPD     (Sampler_divisors+64*i)(BX), Z28, Z28       \
	VPTERNLOGQ $0x78, (64*i)(R9)(R14*1), Z23, Z28          \ // the sign changed where bit 63 is set
	VMOVUPD    Z28, (64*i)(DI)(R14*1)

#define KEEP(i, p, q) \
	VMOVUPD p, (64*i)(DI)(R13*1)      \
	VMOVUPD q, (Sampler_divisors+64*i)(BX)

// func central512(s *Sampler, n int) int
TEXT ·central512(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), BX
	MOVQ n+8(FP), CX
	LEAQ Sampler_row(BX), DI
	LEAQ ·table(SB), DX
	MOVQ Sampler_soon(BX), R11
	LEAQ Sampler_bits(BX), SI
	LEAQ Sampler_tails(BX), R8
	XORQ R10, R10
	VMOVUPD FRACTION(DX), Z16
	VMOVUPD HALF(DX), Z17
	VMOVUPD BELOWHALF(DX), Z18
	VMOVUPD CENTRE(DX), Z21
	VMOVUPD EDGE(DX), Z22
	VMOVUPD SIGN(DX), Z23
	VMOVUPD UNUSED(DX), Z26
	VMOVDQU64 places<>(SB), Z24
	MOVQ         $0x0080000000000000, AX // eight places
	VPBROADCASTQ AX, Z25
	MOVQ SI, R9
	XORQ R13, R13  // where the four vectors are,
	MOVQ $-256, R14 // and those before

central512loop:
	FETCH(Sampler_perLanes(BX), central512fetch, central512fetched)
	LEAQ (R9)(R13*1), SI
	VMOVDQU64  0(SI), Z0
	VPTERNLOGQ $0xAE, Z17, Z16, Z0
	VMOVDQU64  64(SI), Z1
	VPTERNLOGQ $0xAE, Z17, Z16, Z1
	VMOVDQU64  128(SI), Z2
	VPTERNLOGQ $0xAE, Z17, Z16, Z2
	VMOVDQU64  192(SI), Z3
	VPTERNLOGQ $0xAE, Z17, Z16, Z3
	FOUR(VSUBPD, Z18, Z0, Z1, Z2, Z3)     // |q| = (½ + k̄/2⁵³) - (½ - 2⁻⁵⁴), exact, with the other 52 bits k̄
	GATHER(0, Z0)
	GATHER(64, Z1)
	GATHER(128, Z2)
	GATHER(192, Z3)
	VMULPD Z0, Z0, Z4
	VMULPD Z1, Z1, Z5
	VMULPD Z2, Z2, Z6
	VMULPD Z3, Z3, Z7
	VSUBPD Z4, Z21, Z4
	VSUBPD Z5, Z21, Z5
	VSUBPD Z6, Z21, Z6
	VSUBPD Z7, Z21, Z7
	FIRST(A, Z8, Z9, Z10, Z11)
	FIRST(B, Z12, Z13, Z14, Z15)
	ADD(A+1*64, Z8, Z9, Z10, Z11)
	ADD(B+1*64, Z12, Z13, Z14, Z15)
	QUOTIENT(0)
	STEP2(A+2*64, B+2*64)
	STEP2(A+3*64, B+3*64)
	QUOTIENT(1)
	STEP2(A+4*64, B+4*64)
	QUOTIENT(2)
	FETCH(Sampler_perLanes(BX), central512fetch1, central512fetched1)
	STEP2(A+5*64, B+5*64)
	STEP2(A+6*64, B+6*64)
	QUOTIENT(3)
	STEP2(A+7*64, B+7*64)
	EACH(VMULPD, Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11)
	KEEP(0, Z8, Z12)
	KEEP(1, Z9, Z13)
	KEEP(2, Z10, Z14)
	KEEP(3, Z11, Z15)
	MOVQ       R13, R14
	ADDQ       $256, R13
	SUBQ       $32, CX
	JNZ        central512loop
	QUOTIENT(0)
	QUOTIENT(1)
	QUOTIENT(2)
	QUOTIENT(3)
	MOVQ       R11, Sampler_soon(BX)
	MOVQ       R10, ret+16(FP)
	VZEROUPPER
	RET

// The same for tails, of which those before the first are none, and what is there is not used.
#define TAILQUOTIENT(i) \
	VMOVUPD    (64*i-256)(DI), Z28                         \
	VDIVPD     (Sampler_divisors+64*i)(BX), Z28, Z28       \
	VPTERNLOGQ $0x78, (64*i-256)(SI), Z23, Z28             \ // the sign changed where bit 63 is set
	VMOVUPD    Z28, (64*i-256)(DI)

// func tail512(s *Sampler, n int) bool
TEXT ·tail512(SB), NOSPLIT, $0-17
	MOVQ  s+0(FP), BX
	MOVQ  n+8(FP), CX
	LEAQ  ·table(SB), DX
	LEAQ  Sampler_tails(BX), SI
	LEAQ  Sampler_values(BX), DI
	VMOVUPD FRACTION(DX), Z16
	VMOVUPD ONE(DX), Z17
	VMOVUPD BELOWONE(DX), Z19
	VMOVUPD ROOT(DX), Z21
	VMOVUPD SIGN(DX), Z23
	VMOVUPD MINUSLOG2(DX), Z24
	VMOVUPD NEAR(DX), Z25
	VMOVUPD FAR(DX), Z26
	VPXORQ Z27, Z27, Z27
	TESTQ CX, CX
	JZ    tail512end

tail512loop:
	LOADS
	FOUR(VSUBPD, Z19, Z0, Z1, Z2, Z3)     // 2p = (1 + k/2⁵²) - (1 - 2⁻⁵³), exact

	// p = m 2^e, √½ ≤ m < √2
	VGETEXPPD  Z0, Z8
	VGETEXPPD  Z1, Z9
	VGETEXPPD  Z2, Z10
	VGETEXPPD  Z3, Z11
	VGETMANTPD $2, Z0, Z0
	VGETMANTPD $2, Z1, Z1
	VGETMANTPD $2, Z2, Z2
	VGETMANTPD $2, Z3, Z3
	VCMPPD $1, Z21, Z0, K1
	VCMPPD $1, Z21, Z1, K2
	VCMPPD $1, Z21, Z2, K3
	VCMPPD $1, Z21, Z3, K4
	VADDPD Z0, Z0, K1, Z0
	VADDPD Z1, Z1, K2, Z1
	VADDPD Z2, Z2, K3, Z2
	VADDPD Z3, Z3, K4, Z3
	VSUBPD Z17, Z8, K1, Z8
	VSUBPD Z17, Z9, K2, Z9
	VSUBPD Z17, Z10, K3, Z10
	VSUBPD Z17, Z11, K4, Z11

	// s = (m-1)/(m+1), in Z0 to Z3, and its square
	VADDPD Z17, Z0, Z4
	VADDPD Z17, Z1, Z5
	VADDPD Z17, Z2, Z6
	VADDPD Z17, Z3, Z7
	FOUR(VSUBPD, Z17, Z0, Z1, Z2, Z3)
	EACH(VDIVPD, Z4, Z5, Z6, Z7, Z0, Z1, Z2, Z3)
	VMULPD Z0, Z0, Z4
	VMULPD Z1, Z1, Z5
	VMULPD Z2, Z2, Z6
	VMULPD Z3, Z3, Z7

	// twice the series v, then -log p = -e log 2 - 2 s v
	FIRST(ATANH, Z12, Z13, Z14, Z15)
	ADD(ATANH+1*64, Z12, Z13, Z14, Z15)
	STEP(ATANH+2*64)
	STEP(ATANH+3*64)
	STEP(ATANH+4*64)
	TAILQUOTIENT(0)
	STEP(ATANH+5*64)
	STEP(ATANH+6*64)
	TAILQUOTIENT(1)
	STEP(ATANH+7*64)
	STEP(ATANH+8*64)
	TAILQUOTIENT(2)
	STEP(ATANH+9*64)
	STEP(ATANH+10*64)
	TAILQUOTIENT(3)
	STEP(ATANH+11*64)
	STEP(ATANH+12*64)
	EACH(VMULPD, Z0, Z1, Z2, Z3, Z12, Z13, Z14, Z15)
	FOUR(VMULPD, Z24, Z8, Z9, Z10, Z11)
	VSUBPD Z12, Z8, Z4
	VSUBPD Z13, Z9, Z5
	VSUBPD Z14, Z10, Z6
	VSUBPD Z15, Z11, Z7

	// r = √-log p - 1.6, and whether that is far
	VSQRTPD Z4, Z4
	VSQRTPD Z5, Z5
	VSQRTPD Z6, Z6
	VSQRTPD Z7, Z7
	VMAXPD  Z4, Z27, Z27
	VMAXPD  Z5, Z27, Z27
	VMAXPD  Z6, Z27, Z27
	VMAXPD  Z7, Z27, Z27
	FOUR(VSUBPD, Z25, Z4, Z5, Z6, Z7)
	POLYNOMIALS(C, D)
	VMOVUPD    Z8, 0(DI)
	VMOVUPD    Z12, (Sampler_divisors+0)(BX)
	VMOVUPD    Z9, 64(DI)
	VMOVUPD    Z13, (Sampler_divisors+64)(BX)
	VMOVUPD    Z10, 128(DI)
	VMOVUPD    Z14, (Sampler_divisors+128)(BX)
	VMOVUPD    Z11, 192(DI)
	VMOVUPD    Z15, (Sampler_divisors+192)(BX)
	ADDQ       $256, SI
	ADDQ       $256, DI
	SUBQ       $32, CX
	JG         tail512loop
	TAILQUOTIENT(0)
	TAILQUOTIENT(1)
	TAILQUOTIENT(2)
	TAILQUOTIENT(3)

tail512end:
	VCMPPD $0x1E, Z26, Z27, K5
	KMOVW  K5, AX
	TESTL AX, AX
	SETNE ret+16(FP)
	VZEROUPPER
	RET
