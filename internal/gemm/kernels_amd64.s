#include "textflag.h"

// The kernels add to a tile of C, MR rows of NR numbers, the product of a packed sliver of A (k×MR) and one of B (k×NR):
//
//	func(k int, a, b, c *T, stride int)
//
// All of the tile stays in registers: three vectors a row. A number of A is copied to all places of a vector and multiplied
// with the three vectors of B.

#define ARGUMENTS \
	MOVQ k+0(FP), AX      \
	MOVQ a+8(FP), SI      \
	MOVQ b+16(FP), DI     \
	MOVQ c+24(FP), DX     \
	MOVQ stride+32(FP), CX

#define ZERO512(x, y, z) \
	VPXORQ x, x, x \
	VPXORQ y, y, y \
	VPXORQ z, z, z

#define ZERO256(x, y, z) \
	VXORPD x, x, x \
	VXORPD y, y, y \
	VXORPD z, z, z

// one row of the tile

#define D512(at, v, x, y, z) \
	VBROADCASTSD at(SI), v  \
	VFMADD231PD  Z0, v, x   \
	VFMADD231PD  Z1, v, y   \
	VFMADD231PD  Z2, v, z

#define S512(at, v, x, y, z) \
	VBROADCASTSS at(SI), v  \
	VFMADD231PS  Z0, v, x   \
	VFMADD231PS  Z1, v, y   \
	VFMADD231PS  Z2, v, z

#define D256(at, x, y, z) \
	VBROADCASTSD at(SI), Y3 \
	VFMADD231PD  Y0, Y3, x  \
	VFMADD231PD  Y1, Y3, y  \
	VFMADD231PD  Y2, Y3, z

#define S256(at, x, y, z) \
	VBROADCASTSS at(SI), Y3 \
	VFMADD231PS  Y0, Y3, x  \
	VFMADD231PS  Y1, Y3, y  \
	VFMADD231PS  Y2, Y3, z

// a row of the tile to memory

#define STORED512(x, y, z) \
	VADDPD  (DX), x, x    \
	VMOVUPD x, (DX)       \
	VADDPD  64(DX), y, y  \
	VMOVUPD y, 64(DX)     \
	VADDPD  128(DX), z, z \
	VMOVUPD z, 128(DX)    \
	ADDQ    CX, DX

#define STORES512(x, y, z) \
	VADDPS  (DX), x, x    \
	VMOVUPS x, (DX)       \
	VADDPS  64(DX), y, y  \
	VMOVUPS y, 64(DX)     \
	VADDPS  128(DX), z, z \
	VMOVUPS z, 128(DX)    \
	ADDQ    CX, DX

#define STORED256(x, y, z) \
	VADDPD  (DX), x, x   \
	VMOVUPD x, (DX)      \
	VADDPD  32(DX), y, y \
	VMOVUPD y, 32(DX)    \
	VADDPD  64(DX), z, z \
	VMOVUPD z, 64(DX)    \
	ADDQ    CX, DX

#define STORES256(x, y, z) \
	VADDPS  (DX), x, x   \
	VMOVUPS x, (DX)      \
	VADDPS  32(DX), y, y \
	VMOVUPS y, 32(DX)    \
	VADDPS  64(DX), z, z \
	VMOVUPS z, 64(DX)    \
	ADDQ    CX, DX

// 8×24 float64
TEXT ·double512(SB), NOSPLIT, $0-40
	ARGUMENTS
	SHLQ $3, CX
	ZERO512(Z8, Z9, Z10)
	ZERO512(Z11, Z12, Z13)
	ZERO512(Z14, Z15, Z16)
	ZERO512(Z17, Z18, Z19)
	ZERO512(Z20, Z21, Z22)
	ZERO512(Z23, Z24, Z25)
	ZERO512(Z26, Z27, Z28)
	ZERO512(Z29, Z30, Z31)
	TESTQ AX, AX
	JZ   double512store

double512loop:
	VMOVUPD (DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	D512(0, Z3, Z8, Z9, Z10)
	D512(8, Z4, Z11, Z12, Z13)
	D512(16, Z5, Z14, Z15, Z16)
	D512(24, Z6, Z17, Z18, Z19)
	D512(32, Z7, Z20, Z21, Z22)
	D512(40, Z3, Z23, Z24, Z25)
	D512(48, Z4, Z26, Z27, Z28)
	D512(56, Z5, Z29, Z30, Z31)
	ADDQ $64, SI
	ADDQ $192, DI
	DECQ AX
	JNZ  double512loop

double512store:
	STORED512(Z8, Z9, Z10)
	STORED512(Z11, Z12, Z13)
	STORED512(Z14, Z15, Z16)
	STORED512(Z17, Z18, Z19)
	STORED512(Z20, Z21, Z22)
	STORED512(Z23, Z24, Z25)
	STORED512(Z26, Z27, Z28)
	STORED512(Z29, Z30, Z31)
	VZEROUPPER
	RET

// 8×48 float32
TEXT ·single512(SB), NOSPLIT, $0-40
	ARGUMENTS
	SHLQ $2, CX
	ZERO512(Z8, Z9, Z10)
	ZERO512(Z11, Z12, Z13)
	ZERO512(Z14, Z15, Z16)
	ZERO512(Z17, Z18, Z19)
	ZERO512(Z20, Z21, Z22)
	ZERO512(Z23, Z24, Z25)
	ZERO512(Z26, Z27, Z28)
	ZERO512(Z29, Z30, Z31)
	TESTQ AX, AX
	JZ   single512store

single512loop:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	S512(0, Z3, Z8, Z9, Z10)
	S512(4, Z4, Z11, Z12, Z13)
	S512(8, Z5, Z14, Z15, Z16)
	S512(12, Z6, Z17, Z18, Z19)
	S512(16, Z7, Z20, Z21, Z22)
	S512(20, Z3, Z23, Z24, Z25)
	S512(24, Z4, Z26, Z27, Z28)
	S512(28, Z5, Z29, Z30, Z31)
	ADDQ $32, SI
	ADDQ $192, DI
	DECQ AX
	JNZ  single512loop

single512store:
	STORES512(Z8, Z9, Z10)
	STORES512(Z11, Z12, Z13)
	STORES512(Z14, Z15, Z16)
	STORES512(Z17, Z18, Z19)
	STORES512(Z20, Z21, Z22)
	STORES512(Z23, Z24, Z25)
	STORES512(Z26, Z27, Z28)
	STORES512(Z29, Z30, Z31)
	VZEROUPPER
	RET

// 4×12 float64
TEXT ·double256(SB), NOSPLIT, $0-40
	ARGUMENTS
	SHLQ $3, CX
	ZERO256(Y4, Y5, Y6)
	ZERO256(Y7, Y8, Y9)
	ZERO256(Y10, Y11, Y12)
	ZERO256(Y13, Y14, Y15)
	TESTQ AX, AX
	JZ   double256store

double256loop:
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	D256(0, Y4, Y5, Y6)
	D256(8, Y7, Y8, Y9)
	D256(16, Y10, Y11, Y12)
	D256(24, Y13, Y14, Y15)
	ADDQ $32, SI
	ADDQ $96, DI
	DECQ AX
	JNZ  double256loop

double256store:
	STORED256(Y4, Y5, Y6)
	STORED256(Y7, Y8, Y9)
	STORED256(Y10, Y11, Y12)
	STORED256(Y13, Y14, Y15)
	VZEROUPPER
	RET

// 4×24 float32
TEXT ·single256(SB), NOSPLIT, $0-40
	ARGUMENTS
	SHLQ $2, CX
	ZERO256(Y4, Y5, Y6)
	ZERO256(Y7, Y8, Y9)
	ZERO256(Y10, Y11, Y12)
	ZERO256(Y13, Y14, Y15)
	TESTQ AX, AX
	JZ   single256store

single256loop:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	S256(0, Y4, Y5, Y6)
	S256(4, Y7, Y8, Y9)
	S256(8, Y10, Y11, Y12)
	S256(12, Y13, Y14, Y15)
	ADDQ $16, SI
	ADDQ $96, DI
	DECQ AX
	JNZ  single256loop

single256store:
	STORES256(Y4, Y5, Y6)
	STORES256(Y7, Y8, Y9)
	STORES256(Y10, Y11, Y12)
	STORES256(Y13, Y14, Y15)
	VZEROUPPER
	RET

// The kernels that rotate count + 1 rows of a panel of 32 float64, neighbours by neighbours:
//
//	func(count int, turns, rows *float64)
//
// The lower row of one rotation is the upper one of the next and stays in registers.

// x, y ← cx + sy, cy - sx for a vector: t is scratch, the new x goes to memory, the new y to x

#define ROTATE(at, c, s, x, y, t) \
	VMULPD       s, x, t  \
	VMULPD       c, x, x  \
	VFMADD231PD  s, y, x  \
	VMOVUPD      x, at    \
	VMOVAPD      y, x     \
	VFMSUB213PD  t, c, x

// func rotate512(count int, turns, rows *float64)
TEXT ·rotate512(SB), NOSPLIT, $0-24
	MOVQ count+0(FP), AX
	MOVQ turns+8(FP), SI
	MOVQ rows+16(FP), DI
	VMOVUPD (DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	VMOVUPD 192(DI), Z3

rotate512loop:
	VBROADCASTSD (SI), Z8
	VBROADCASTSD 8(SI), Z9
	VMOVUPD 256(DI), Z4
	VMOVUPD 320(DI), Z5
	VMOVUPD 384(DI), Z6
	VMOVUPD 448(DI), Z7
	ROTATE((DI), Z8, Z9, Z0, Z4, Z10)
	ROTATE(64(DI), Z8, Z9, Z1, Z5, Z11)
	ROTATE(128(DI), Z8, Z9, Z2, Z6, Z12)
	ROTATE(192(DI), Z8, Z9, Z3, Z7, Z13)
	ADDQ $16, SI
	ADDQ $256, DI
	DECQ AX
	JNZ  rotate512loop

	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VZEROUPPER
	RET

// func rotate256(count int, turns, rows *float64)
TEXT ·rotate256(SB), NOSPLIT, $0-24
	MOVQ rows+16(FP), DX
	MOVQ $2, BX

rotate256half:
	MOVQ count+0(FP), AX
	MOVQ turns+8(FP), SI
	MOVQ DX, DI
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3

rotate256loop:
	VBROADCASTSD (SI), Y8
	VBROADCASTSD 8(SI), Y9
	VMOVUPD 256(DI), Y4
	VMOVUPD 288(DI), Y5
	VMOVUPD 320(DI), Y6
	VMOVUPD 352(DI), Y7
	ROTATE((DI), Y8, Y9, Y0, Y4, Y10)
	ROTATE(32(DI), Y8, Y9, Y1, Y5, Y11)
	ROTATE(64(DI), Y8, Y9, Y2, Y6, Y12)
	ROTATE(96(DI), Y8, Y9, Y3, Y7, Y13)
	ADDQ $16, SI
	ADDQ $256, DI
	DECQ AX
	JNZ  rotate256loop

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, DX
	DECQ BX
	JNZ  rotate256half
	VZEROUPPER
	RET
