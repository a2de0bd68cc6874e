#include "textflag.h"
#include "go_asm.h"
#include "table_amd64.h"

// ChaCha8rand as in normal512_amd64.s, 8 blocks at a time. Sixteen registers hold no more than 14 words of them and what
// is needed to work: words 8 and 9, or 10 and 11, lie in s.work.

DATA counters256<>+0(SB)/8, $0x0000000100000000
DATA counters256<>+8(SB)/8, $0x0000000300000002
DATA counters256<>+16(SB)/8, $0x0000000500000004
DATA counters256<>+24(SB)/8, $0x0000000700000006
DATA counters256<>+32(SB)/8, $0x0000000900000008
DATA counters256<>+40(SB)/8, $0x0000000b0000000a
DATA counters256<>+48(SB)/8, $0x0000000d0000000c
DATA counters256<>+56(SB)/8, $0x0000000f0000000e
GLOBL counters256<>(SB), RODATA|NOPTR, $64

// the bytes of words rotated by 16 bits, and by 8
DATA rotate16<>+0(SB)/8, $0x0504070601000302
DATA rotate16<>+8(SB)/8, $0x0d0c0f0e09080b0a
DATA rotate16<>+16(SB)/8, $0x0504070601000302
DATA rotate16<>+24(SB)/8, $0x0d0c0f0e09080b0a
GLOBL rotate16<>(SB), RODATA|NOPTR, $32
DATA rotate8<>+0(SB)/8, $0x0605040702010003
DATA rotate8<>+8(SB)/8, $0x0e0d0c0f0a09080b
DATA rotate8<>+16(SB)/8, $0x0605040702010003
DATA rotate8<>+24(SB)/8, $0x0e0d0c0f0a09080b
GLOBL rotate8<>(SB), RODATA|NOPTR, $32

// the words of "expand 32-byte k"
DATA sigma<>+0(SB)/8, $0x3320646e61707865
DATA sigma<>+8(SB)/8, $0x6b20657479622d32
GLOBL sigma<>(SB), RODATA|NOPTR, $16

#define TURN(left, right, b, t) \
	VPSLLD $left, b, t  \
	VPSRLD $right, b, b \
	VPOR   t, b, b

// two quarter rounds
#define QUARTERS(a, b, c, d, e, f, g, h) \
	VPADDD  b, a, a               \
	VPADDD  f, e, e               \
	VPXOR   a, d, d               \
	VPXOR   e, h, h               \
	VPSHUFB rotate16<>(SB), d, d  \
	VPSHUFB rotate16<>(SB), h, h  \
	VPADDD  d, c, c               \
	VPADDD  h, g, g               \
	VPXOR   c, b, b               \
	VPXOR   g, f, f               \
	TURN(12, 20, b, Y14)          \
	TURN(12, 20, f, Y15)          \
	VPADDD  b, a, a               \
	VPADDD  f, e, e               \
	VPXOR   a, d, d               \
	VPXOR   e, h, h               \
	VPSHUFB rotate8<>(SB), d, d   \
	VPSHUFB rotate8<>(SB), h, h   \
	VPADDD  d, c, c               \
	VPADDD  h, g, g               \
	VPXOR   c, b, b               \
	VPXOR   g, f, f               \
	TURN(7, 25, b, Y14)           \
	TURN(7, 25, f, Y15)

// two words go to s.work, the two others come into their registers
#define SWAP(store, load) \
	VMOVDQU Y8, (Sampler_work+const_SeedSize+store)(BX)     \
	VMOVDQU Y9, (Sampler_work+const_SeedSize+store+32)(BX)  \
	VMOVDQU (Sampler_work+const_SeedSize+load)(BX), Y8      \
	VMOVDQU (Sampler_work+const_SeedSize+load+32)(BX), Y9

#define DOUBLEROUND \
	QUARTERS(Y0, Y4, Y8, Y10, Y1, Y5, Y9, Y11) \
	SWAP(0, 64)                                \
	QUARTERS(Y2, Y6, Y8, Y12, Y3, Y7, Y9, Y13) \
	QUARTERS(Y0, Y5, Y8, Y13, Y1, Y6, Y9, Y10) \
	SWAP(64, 0)                                \
	QUARTERS(Y2, Y7, Y8, Y11, Y3, Y4, Y9, Y12)

// a word of the key is added
#define KEY(i, y) \
	VPBROADCASTD (Sampler_work+4*i)(BX), Y15 \
	VPADDD       Y15, y, y

// word i of eight blocks, to its places in two groups
#define STORE(i, x, y) \
	VMOVDQU      x, (16*i)(R8)         \
	VEXTRACTI128 $1, y, (16*i+256)(R8)

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

// func fill256(s *Sampler, refills int)
TEXT ·fill256(SB), NOSPLIT, $0-16
	MOVQ s+0(FP), BX
	MOVQ refills+8(FP), CX
	MOVQ Sampler_soon(BX), R11
	LEAQ Sampler_bits(BX), DI
	LEAQ (8*const_Block)(DI), SI

fill256loop:
	VMOVDQU (SI), Y0
	VMOVDQU Y0, Sampler_work(BX)
	MOVQ DI, R8
	LEAQ counters256<>(SB), R9
	MOVQ $2, R10

fill256half:
	VPBROADCASTD (Sampler_work+24)(BX), Y8
	VPBROADCASTD (Sampler_work+28)(BX), Y9
	VMOVDQU      Y8, (Sampler_work+const_SeedSize+64)(BX)
	VMOVDQU      Y9, (Sampler_work+const_SeedSize+96)(BX)
	VPBROADCASTD sigma<>+0(SB), Y0
	VPBROADCASTD sigma<>+4(SB), Y1
	VPBROADCASTD sigma<>+8(SB), Y2
	VPBROADCASTD sigma<>+12(SB), Y3
	VPBROADCASTD (Sampler_work+0)(BX), Y4
	VPBROADCASTD (Sampler_work+4)(BX), Y5
	VPBROADCASTD (Sampler_work+8)(BX), Y6
	VPBROADCASTD (Sampler_work+12)(BX), Y7
	VPBROADCASTD (Sampler_work+16)(BX), Y8
	VPBROADCASTD (Sampler_work+20)(BX), Y9
	VMOVDQU      (R9), Y10
	VPXOR        Y11, Y11, Y11
	VPXOR        Y12, Y12, Y12
	VPXOR        Y13, Y13, Y13
	DOUBLEROUND
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill256fetch0, fill256fetched0)
	DOUBLEROUND
	DOUBLEROUND
	FETCH(Sampler_perRefill(BX), fill256fetch1, fill256fetched1)
	STORE(0, X0, Y0)
	STORE(1, X1, Y1)
	STORE(2, X2, Y2)
	STORE(3, X3, Y3)
	STORE(12, X10, Y10)
	STORE(13, X11, Y11)
	STORE(14, X12, Y12)
	STORE(15, X13, Y13)
	VMOVDQU (Sampler_work+const_SeedSize+64)(BX), Y10
	VMOVDQU (Sampler_work+const_SeedSize+96)(BX), Y11
	KEY(0, Y4)
	KEY(1, Y5)
	KEY(2, Y6)
	KEY(3, Y7)
	KEY(4, Y8)
	KEY(5, Y9)
	KEY(6, Y10)
	KEY(7, Y11)
	STORE(4, X4, Y4)
	STORE(5, X5, Y5)
	STORE(6, X6, Y6)
	STORE(7, X7, Y7)
	STORE(8, X8, Y8)
	STORE(9, X9, Y9)
	STORE(10, X10, Y10)
	STORE(11, X11, Y11)
	ADDQ $512, R8
	ADDQ $32, R9
	DECQ R10
	JNZ  fill256half
	ADDQ $(8*const_refill), DI
	MOVQ DI, SI
	DECQ CX
	JNZ  fill256loop
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

// the low 52 bits at SI as a fraction of a power of two, plus that
#define LOAD(at, power, v) \
	VMOVUPD at(SI), v            \
	VANDPD  FRACTION(DX), v, v   \
	VORPD   power(DX), v, v

#define LOADS(power) \
	LOAD(0, power, Y0)  \
	LOAD(32, power, Y1) \
	LOAD(64, power, Y2) \
	LOAD(96, power, Y3)

// Polynomials in r, Y0 to Y3: two of them, in Y4 to Y7 and in Y8 to Y11.
#define FIRST(at, w0, w1, w2, w3) \
	VMOVUPD (at)(DX), Y15     \
	VMULPD  Y0, Y15, w0       \
	VMULPD  Y1, Y15, w1       \
	VMULPD  Y2, Y15, w2       \
	VMULPD  Y3, Y15, w3

#define ADD(at, w0, w1, w2, w3) \
	VMOVUPD (at)(DX), Y15 \
	FOUR(VADDPD, Y15, w0, w1, w2, w3)

#define STEP2(a, b) \
	EACH(VMULPD, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)   \
	EACH(VMULPD, Y0, Y1, Y2, Y3, Y8, Y9, Y10, Y11) \
	ADD(a, Y4, Y5, Y6, Y7)                         \
	ADD(b, Y8, Y9, Y10, Y11)

#define POLYNOMIALS(a, b) \
	FIRST(a, Y4, Y5, Y6, Y7)        \
	FIRST(b, Y8, Y9, Y10, Y11)      \
	ADD(a+1*64, Y4, Y5, Y6, Y7)     \
	ADD(b+1*64, Y8, Y9, Y10, Y11)   \
	STEP2(a+2*64, b+2*64)           \
	STEP2(a+3*64, b+3*64)           \
	STEP2(a+4*64, b+4*64)           \
	STEP2(a+5*64, b+5*64)           \
	STEP2(a+6*64, b+6*64)           \
	STEP2(a+7*64, b+7*64)

// a step of one in w, Y4 to Y7, in Y8 to Y11
#define STEP(at) \
	EACH(VMULPD, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11) \
	ADD(at, Y8, Y9, Y10, Y11)

DATA places256<>+0(SB)/8, $0x0000000000000000
DATA places256<>+8(SB)/8, $0x0010000000000000
DATA places256<>+16(SB)/8, $0x0020000000000000
DATA places256<>+24(SB)/8, $0x0030000000000000
GLOBL places256<>(SB), RODATA|NOPTR, $32

// for each set of four numbers, a byte each of which words bring them to the front
DATA front<>+0(SB)/8, $0x0706050403020100
DATA front<>+8(SB)/8, $0x0706050403020100
DATA front<>+16(SB)/8, $0x0706050401000302
DATA front<>+24(SB)/8, $0x0706050403020100
DATA front<>+32(SB)/8, $0x0706030201000504
DATA front<>+40(SB)/8, $0x0706030205040100
DATA front<>+48(SB)/8, $0x0706010005040302
DATA front<>+56(SB)/8, $0x0706050403020100
DATA front<>+64(SB)/8, $0x0504030201000706
DATA front<>+72(SB)/8, $0x0504030207060100
DATA front<>+80(SB)/8, $0x0504010007060302
DATA front<>+88(SB)/8, $0x0504070603020100
DATA front<>+96(SB)/8, $0x0302010007060504
DATA front<>+104(SB)/8, $0x0302070605040100
DATA front<>+112(SB)/8, $0x0100070605040302
DATA front<>+120(SB)/8, $0x0706050403020100
GLOBL front<>(SB), RODATA|NOPTR, $128

// the numbers of a vector that are not central, by |q|: their bits, with the places in the bits that are not used
#define GATHER(at, q) \
	VCMPPD     $0x1E, Y12, q, Y8       \
	VMOVMSKPD  Y8, AX                  \
	VPMOVZXBD  (R9)(AX*8), Y8          \
	VMOVDQU    UNUSED(DX), Y9          \
	VPANDN     at(SI), Y9, Y9          \
	VPOR       Y14, Y9, Y9             \
	VPERMD     Y9, Y8, Y9              \
	VMOVDQU    Y9, (R8)(R10*8)         \
	POPCNTL    AX, AX                  \
	ADDQ       AX, R10                 \
	VPADDQ     Y13, Y14, Y14

// the other 52 low bits as a fraction of ½, plus that
#define OTHERS(at, v) \
	VMOVDQU at(SI), v      \
	VPANDN  Y15, v, v      \
	VPOR    Y11, v, v

// func central256(s *Sampler, n int) int
TEXT ·central256(SB), NOSPLIT, $0-24
	MOVQ s+0(FP), BX
	MOVQ n+8(FP), CX
	MOVQ Sampler_soon(BX), R11
	LEAQ ·table(SB), DX
	LEAQ Sampler_bits(BX), SI
	LEAQ Sampler_row(BX), DI
	LEAQ Sampler_tails(BX), R8
	LEAQ front<>(SB), R9
	XORQ R10, R10
	VMOVUPD EDGE(DX), Y12
	MOVQ $0x0040000000000000, AX
	VMOVQ AX, X13
	VPBROADCASTQ X13, Y13
	VMOVDQU places256<>(SB), Y14

central256loop:
	FETCH(Sampler_perLanes(BX), central256fetch, central256fetched)
	VMOVUPD FRACTION(DX), Y15
	VMOVUPD HALF(DX), Y11
	OTHERS(0, Y0)
	OTHERS(32, Y1)
	OTHERS(64, Y2)
	OTHERS(96, Y3)
	VMOVUPD BELOWHALF(DX), Y15
	FOUR(VSUBPD, Y15, Y0, Y1, Y2, Y3) // |q| = (½ + k̄/2⁵³) - (½ - 2⁻⁵⁴), exact, with the other 52 bits k̄
	GATHER(0, Y0)
	GATHER(32, Y1)
	GATHER(64, Y2)
	GATHER(96, Y3)
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	EACH(VMULPD, Y0, Y1, Y2, Y3, Y0, Y1, Y2, Y3)
	VMOVUPD CENTRE(DX), Y15
	VSUBPD Y0, Y15, Y0
	VSUBPD Y1, Y15, Y1
	VSUBPD Y2, Y15, Y2
	VSUBPD Y3, Y15, Y3
	POLYNOMIALS(A, B)
	EACH(VMULPD, 0(DI), 32(DI), 64(DI), 96(DI), Y4, Y5, Y6, Y7)
	EACH(VDIVPD, Y8, Y9, Y10, Y11, Y4, Y5, Y6, Y7)

	// the sign changed where bit 63 is set
	VMOVUPD SIGN(DX), Y15
	VMOVUPD 0(SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVUPD 64(SI), Y2
	VMOVUPD 96(SI), Y3
	VANDPD  Y15, Y0, Y0
	VANDPD  Y15, Y1, Y1
	VANDPD  Y15, Y2, Y2
	VANDPD  Y15, Y3, Y3
	EACH(VXORPD, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JNZ  central256loop
	MOVQ R11, Sampler_soon(BX)
	MOVQ R10, ret+16(FP)
	VZEROUPPER
	RET

// of 2p in v: the exponent e of p, and m in its place
#define PARTS(v, e) \
	VPSRLQ $52, v, e            \
	VORPD  INTEGER(DX), e, e    \
	VSUBPD BIAS(DX), e, e       \
	VANDPD FRACTION(DX), v, v   \
	VORPD  HALF(DX), v, v       \
	VCMPPD $1, Y13, v, Y8       \
	VANDPD Y8, v, Y9            \
	VADDPD Y9, v, v             \
	VANDPD ONE(DX), Y8, Y8      \
	VSUBPD Y8, e, e

// func tail256(s *Sampler, n int) bool
TEXT ·tail256(SB), NOSPLIT, $0-17
	MOVQ s+0(FP), BX
	MOVQ n+8(FP), CX
	LEAQ ·table(SB), DX
	LEAQ Sampler_tails(BX), SI
	LEAQ Sampler_values(BX), DI
	VMOVUPD ROOT(DX), Y13
	VXORPD  Y14, Y14, Y14
	TESTQ CX, CX
	JZ    tail256end

tail256loop:
	LOADS(ONE)
	VMOVUPD BELOWONE(DX), Y15
	FOUR(VSUBPD, Y15, Y0, Y1, Y2, Y3) // 2p = (1 + k/2⁵²) - (1 - 2⁻⁵³), exact

	// p = m 2^e, √½ ≤ m < √2
	PARTS(Y0, Y4)
	PARTS(Y1, Y5)
	PARTS(Y2, Y6)
	PARTS(Y3, Y7)
	VMOVUPD MINUSLOG2(DX), Y15
	FOUR(VMULPD, Y15, Y4, Y5, Y6, Y7)
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)

	// s = (m-1)/(m+1), in Y0 to Y3, and its square, in Y4 to Y7
	VMOVUPD ONE(DX), Y15
	VADDPD Y15, Y0, Y4
	VADDPD Y15, Y1, Y5
	VADDPD Y15, Y2, Y6
	VADDPD Y15, Y3, Y7
	FOUR(VSUBPD, Y15, Y0, Y1, Y2, Y3)
	EACH(VDIVPD, Y4, Y5, Y6, Y7, Y0, Y1, Y2, Y3)
	VMULPD Y0, Y0, Y4
	VMULPD Y1, Y1, Y5
	VMULPD Y2, Y2, Y6
	VMULPD Y3, Y3, Y7

	// twice the series v, then -log p = -e log 2 - 2 s v
	VMOVUPD ATANH(DX), Y15
	VMULPD  Y4, Y15, Y8
	VMULPD  Y5, Y15, Y9
	VMULPD  Y6, Y15, Y10
	VMULPD  Y7, Y15, Y11
	ADD(ATANH+1*64, Y8, Y9, Y10, Y11)
	STEP(ATANH+2*64)
	STEP(ATANH+3*64)
	STEP(ATANH+4*64)
	STEP(ATANH+5*64)
	STEP(ATANH+6*64)
	STEP(ATANH+7*64)
	STEP(ATANH+8*64)
	STEP(ATANH+9*64)
	STEP(ATANH+10*64)
	STEP(ATANH+11*64)
	STEP(ATANH+12*64)
	EACH(VMULPD, Y8, Y9, Y10, Y11, Y0, Y1, Y2, Y3)
	VMOVUPD 0(DI), Y4
	VMOVUPD 32(DI), Y5
	VMOVUPD 64(DI), Y6
	VMOVUPD 96(DI), Y7
	VSUBPD  Y0, Y4, Y0
	VSUBPD  Y1, Y5, Y1
	VSUBPD  Y2, Y6, Y2
	VSUBPD  Y3, Y7, Y3

	// r = √-log p - 1.6, and the largest root
	VSQRTPD Y0, Y0
	VSQRTPD Y1, Y1
	VSQRTPD Y2, Y2
	VSQRTPD Y3, Y3
	VMAXPD  Y0, Y14, Y14
	VMAXPD  Y1, Y14, Y14
	VMAXPD  Y2, Y14, Y14
	VMAXPD  Y3, Y14, Y14
	VMOVUPD NEAR(DX), Y15
	FOUR(VSUBPD, Y15, Y0, Y1, Y2, Y3)
	POLYNOMIALS(C, D)
	EACH(VDIVPD, Y8, Y9, Y10, Y11, Y4, Y5, Y6, Y7)

	// the sign changed where bit 63 is set
	VMOVUPD SIGN(DX), Y15
	VANDPD  0(SI), Y15, Y0
	VANDPD  32(SI), Y15, Y1
	VANDPD  64(SI), Y15, Y2
	VANDPD  96(SI), Y15, Y3
	EACH(VXORPD, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JG   tail256loop

tail256end:
	VCMPPD    $0x1E, FAR(DX), Y14, Y14
	VMOVMSKPD Y14, AX
	TESTL     AX, AX
	SETNE     ret+16(FP)
	VZEROUPPER
	RET
