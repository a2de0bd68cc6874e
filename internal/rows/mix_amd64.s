#include "textflag.h"
#include "go_asm.h"

// Two vectors of numbers at a time, of 64 or of 32 bytes. Nothing is fused: see mix.go for what is done.

// func scale512(dst, src *float64, c float64, n int)
TEXT ·scale512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD c+16(FP), Z0
	MOVQ         n+24(FP), CX

scale512loop:
	VMULPD  (SI), Z0, Z1
	VMULPD  64(SI), Z0, Z2
	VMOVUPD Z1, (DI)
	VMOVUPD Z2, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     scale512loop
	VZEROUPPER
	RET

// func addScaled512(dst, src *float64, c float64, n int)
TEXT ·addScaled512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD c+16(FP), Z0
	MOVQ         n+24(FP), CX

addScaled512loop:
	VMULPD  (SI), Z0, Z1
	VMULPD  64(SI), Z0, Z2
	VADDPD  (DI), Z1, Z1
	VADDPD  64(DI), Z2, Z2
	VMOVUPD Z1, (DI)
	VMOVUPD Z2, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     addScaled512loop
	VZEROUPPER
	RET

// func pole512(row, first *float64, c *Section, n int)
TEXT ·pole512(SB), NOSPLIT, $0-32
	MOVQ         row+0(FP), DI
	MOVQ         first+8(FP), SI
	MOVQ         c+16(FP), AX
	MOVQ         n+24(FP), CX
	VBROADCASTSD Section_P(AX), Z0
	VBROADCASTSD Section_A(AX), Z1

pole512loop:
	VMOVUPD (DI), Z4
	VMOVUPD 64(DI), Z5
	VADDPD  (SI), Z4, Z6
	VADDPD  64(SI), Z5, Z7
	VMULPD  Z6, Z0, Z8
	VMULPD  Z7, Z0, Z9
	VMULPD  Z4, Z1, Z4
	VMULPD  Z5, Z1, Z5
	VSUBPD  Z4, Z8, Z8
	VSUBPD  Z5, Z9, Z9
	VMOVUPD Z8, (SI)
	VMOVUPD Z9, 64(SI)
	VMOVUPD Z6, (DI)
	VMOVUPD Z7, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     pole512loop
	VZEROUPPER
	RET

// func poles512(row, first, second *float64, c *Section, n int)
TEXT ·poles512(SB), NOSPLIT, $0-40
	MOVQ         row+0(FP), DI
	MOVQ         first+8(FP), SI
	MOVQ         second+16(FP), DX
	MOVQ         c+24(FP), AX
	MOVQ         n+32(FP), CX
	VBROADCASTSD Section_P(AX), Z0
	VBROADCASTSD Section_Q(AX), Z1
	VBROADCASTSD Section_A(AX), Z2
	VBROADCASTSD Section_B(AX), Z3

poles512loop:
	VMOVUPD (DI), Z4
	VMOVUPD 64(DI), Z5
	VADDPD  (SI), Z4, Z6
	VADDPD  64(SI), Z5, Z7
	VMULPD  Z6, Z0, Z8
	VMULPD  Z7, Z0, Z9
	VMULPD  Z4, Z2, Z10
	VMULPD  Z5, Z2, Z11
	VSUBPD  Z10, Z8, Z8
	VSUBPD  Z11, Z9, Z9
	VADDPD  (DX), Z8, Z8
	VADDPD  64(DX), Z9, Z9
	VMULPD  Z4, Z3, Z4
	VMULPD  Z5, Z3, Z5
	VMULPD  Z6, Z1, Z10
	VMULPD  Z7, Z1, Z11
	VSUBPD  Z10, Z4, Z4
	VSUBPD  Z11, Z5, Z5
	VMOVUPD Z8, (SI)
	VMOVUPD Z9, 64(SI)
	VMOVUPD Z4, (DX)
	VMOVUPD Z5, 64(DX)
	VMOVUPD Z6, (DI)
	VMOVUPD Z7, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DX
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     poles512loop
	VZEROUPPER
	RET

// func level512(dst, src *float64, std float64, n int) (finite bool)
TEXT ·level512(SB), NOSPLIT, $0-33
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD std+16(FP), Z0
	MOVQ         n+24(FP), CX
	VPXORQ       Z1, Z1, Z1 // stays 0, or becomes NaN

level512loop:
	VMULPD  (SI), Z0, Z2
	VMULPD  64(SI), Z0, Z3
	VMOVUPD Z2, (DI)
	VMOVUPD Z3, 64(DI)
	VSUBPD  Z2, Z2, Z2
	VSUBPD  Z3, Z3, Z3
	VADDPD  Z2, Z3, Z2
	VADDPD  Z2, Z1, Z1
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     level512loop
	VCMPPD  $3, Z1, Z1, K1
	KMOVW   K1, AX
	TESTL   AX, AX
	SETEQ   finite+32(FP)
	VZEROUPPER
	RET

// func levelPast512(dst, src *float64, std float64, n int) (finite bool)
TEXT ·levelPast512(SB), NOSPLIT, $0-33
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD std+16(FP), Z0
	MOVQ         n+24(FP), CX
	VPXORQ       Z1, Z1, Z1 // stays 0, or becomes NaN

levelPast512loop:
	VMULPD  (SI), Z0, Z2
	VMULPD  64(SI), Z0, Z3
	VMOVNTPD Z2, (DI)
	VMOVNTPD Z3, 64(DI)
	VSUBPD  Z2, Z2, Z2
	VSUBPD  Z3, Z3, Z3
	VADDPD  Z2, Z3, Z2
	VADDPD  Z2, Z1, Z1
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     levelPast512loop
	SFENCE
	VCMPPD  $3, Z1, Z1, K1
	KMOVW   K1, AX
	TESTL   AX, AX
	SETEQ   finite+32(FP)
	VZEROUPPER
	RET

// func grid512(row *float64, c *gridded, n int) (fits bool)
TEXT ·grid512(SB), NOSPLIT, $0-25
	MOVQ         row+0(FP), DI
	MOVQ         c+8(FP), AX
	MOVQ         n+16(FP), CX
	VBROADCASTSD gridded_std(AX), Z4
	VBROADCASTSD gridded_inverse(AX), Z5
	VBROADCASTSD gridded_grid(AX), Z6
	VBROADCASTSD gridded_most(AX), Z8
	VBROADCASTSD gridded_magnitude(AX), Z7
	VPXORQ       Z0, Z0, Z0 // the largest magnitude
	VPXORQ       Z1, Z1, Z1 // stays 0, or becomes NaN

grid512loop:
	VMULPD  (DI), Z4, Z2
	VMULPD  64(DI), Z4, Z3
	VMULPD  Z2, Z5, Z2
	VMULPD  Z3, Z5, Z3
	VPANDQ   Z2, Z7, Z9
	VPANDQ   Z3, Z7, Z10
	VMAXPD  Z9, Z0, Z0
	VMAXPD  Z10, Z0, Z0
	VSUBPD  Z9, Z9, Z9
	VSUBPD  Z10, Z10, Z10
	VADDPD  Z9, Z1, Z1
	VADDPD  Z10, Z1, Z1
	VRNDSCALEPD $8, Z2, Z2
	VRNDSCALEPD $8, Z3, Z3
	VMULPD  Z2, Z6, Z2
	VMULPD  Z3, Z6, Z3
	VMOVUPD Z2, (DI)
	VMOVUPD Z3, 64(DI)
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     grid512loop
	VCMPPD  $13, Z8, Z0, K1 // at least the most
	VCMPPD  $3, Z1, Z1, K2
	KORW    K1, K2, K1
	KMOVW   K1, AX
	TESTL AX, AX
	SETEQ fits+24(FP)
	VZEROUPPER
	RET

// func scale256(dst, src *float64, c float64, n int)
TEXT ·scale256(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD c+16(FP), Y0
	MOVQ         n+24(FP), CX

scale256loop:
	VMULPD  (SI), Y0, Y1
	VMULPD  32(SI), Y0, Y2
	VMOVUPD Y1, (DI)
	VMOVUPD Y2, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     scale256loop
	VZEROUPPER
	RET

// func addScaled256(dst, src *float64, c float64, n int)
TEXT ·addScaled256(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD c+16(FP), Y0
	MOVQ         n+24(FP), CX

addScaled256loop:
	VMULPD  (SI), Y0, Y1
	VMULPD  32(SI), Y0, Y2
	VADDPD  (DI), Y1, Y1
	VADDPD  32(DI), Y2, Y2
	VMOVUPD Y1, (DI)
	VMOVUPD Y2, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     addScaled256loop
	VZEROUPPER
	RET

// func pole256(row, first *float64, c *Section, n int)
TEXT ·pole256(SB), NOSPLIT, $0-32
	MOVQ         row+0(FP), DI
	MOVQ         first+8(FP), SI
	MOVQ         c+16(FP), AX
	MOVQ         n+24(FP), CX
	VBROADCASTSD Section_P(AX), Y0
	VBROADCASTSD Section_A(AX), Y1

pole256loop:
	VMOVUPD (DI), Y4
	VMOVUPD 32(DI), Y5
	VADDPD  (SI), Y4, Y6
	VADDPD  32(SI), Y5, Y7
	VMULPD  Y6, Y0, Y8
	VMULPD  Y7, Y0, Y9
	VMULPD  Y4, Y1, Y4
	VMULPD  Y5, Y1, Y5
	VSUBPD  Y4, Y8, Y8
	VSUBPD  Y5, Y9, Y9
	VMOVUPD Y8, (SI)
	VMOVUPD Y9, 32(SI)
	VMOVUPD Y6, (DI)
	VMOVUPD Y7, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     pole256loop
	VZEROUPPER
	RET

// func poles256(row, first, second *float64, c *Section, n int)
TEXT ·poles256(SB), NOSPLIT, $0-40
	MOVQ         row+0(FP), DI
	MOVQ         first+8(FP), SI
	MOVQ         second+16(FP), DX
	MOVQ         c+24(FP), AX
	MOVQ         n+32(FP), CX
	VBROADCASTSD Section_P(AX), Y0
	VBROADCASTSD Section_Q(AX), Y1
	VBROADCASTSD Section_A(AX), Y2
	VBROADCASTSD Section_B(AX), Y3

poles256loop:
	VMOVUPD (DI), Y4
	VMOVUPD 32(DI), Y5
	VADDPD  (SI), Y4, Y6
	VADDPD  32(SI), Y5, Y7
	VMULPD  Y6, Y0, Y8
	VMULPD  Y7, Y0, Y9
	VMULPD  Y4, Y2, Y10
	VMULPD  Y5, Y2, Y11
	VSUBPD  Y10, Y8, Y8
	VSUBPD  Y11, Y9, Y9
	VADDPD  (DX), Y8, Y8
	VADDPD  32(DX), Y9, Y9
	VMULPD  Y4, Y3, Y4
	VMULPD  Y5, Y3, Y5
	VMULPD  Y6, Y1, Y10
	VMULPD  Y7, Y1, Y11
	VSUBPD  Y10, Y4, Y4
	VSUBPD  Y11, Y5, Y5
	VMOVUPD Y8, (SI)
	VMOVUPD Y9, 32(SI)
	VMOVUPD Y4, (DX)
	VMOVUPD Y5, 32(DX)
	VMOVUPD Y6, (DI)
	VMOVUPD Y7, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     poles256loop
	VZEROUPPER
	RET

// func level256(dst, src *float64, std float64, n int) (finite bool)
TEXT ·level256(SB), NOSPLIT, $0-33
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD std+16(FP), Y0
	MOVQ         n+24(FP), CX
	VXORPD       Y1, Y1, Y1 // stays 0, or becomes NaN

level256loop:
	VMULPD  (SI), Y0, Y2
	VMULPD  32(SI), Y0, Y3
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, 32(DI)
	VSUBPD  Y2, Y2, Y2
	VSUBPD  Y3, Y3, Y3
	VADDPD  Y2, Y3, Y2
	VADDPD  Y2, Y1, Y1
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     level256loop
	VCMPPD    $3, Y1, Y1, Y1
	VMOVMSKPD Y1, AX
	TESTL     AX, AX
	SETEQ     finite+32(FP)
	VZEROUPPER
	RET

// func levelPast256(dst, src *float64, std float64, n int) (finite bool)
TEXT ·levelPast256(SB), NOSPLIT, $0-33
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSD std+16(FP), Y0
	MOVQ         n+24(FP), CX
	VXORPD       Y1, Y1, Y1 // stays 0, or becomes NaN

levelPast256loop:
	VMULPD  (SI), Y0, Y2
	VMULPD  32(SI), Y0, Y3
	VMOVNTPD Y2, (DI)
	VMOVNTPD Y3, 32(DI)
	VSUBPD  Y2, Y2, Y2
	VSUBPD  Y3, Y3, Y3
	VADDPD  Y2, Y3, Y2
	VADDPD  Y2, Y1, Y1
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     levelPast256loop
	SFENCE
	VCMPPD    $3, Y1, Y1, Y1
	VMOVMSKPD Y1, AX
	TESTL     AX, AX
	SETEQ     finite+32(FP)
	VZEROUPPER
	RET

// func grid256(row *float64, c *gridded, n int) (fits bool)
TEXT ·grid256(SB), NOSPLIT, $0-25
	MOVQ         row+0(FP), DI
	MOVQ         c+8(FP), AX
	MOVQ         n+16(FP), CX
	VBROADCASTSD gridded_std(AX), Y4
	VBROADCASTSD gridded_inverse(AX), Y5
	VBROADCASTSD gridded_grid(AX), Y6
	VBROADCASTSD gridded_most(AX), Y8
	VBROADCASTSD gridded_magnitude(AX), Y7
	VXORPD       Y0, Y0, Y0 // the largest magnitude
	VXORPD       Y1, Y1, Y1 // stays 0, or becomes NaN

grid256loop:
	VMULPD  (DI), Y4, Y2
	VMULPD  32(DI), Y4, Y3
	VMULPD  Y2, Y5, Y2
	VMULPD  Y3, Y5, Y3
	VANDPD   Y2, Y7, Y9
	VANDPD   Y3, Y7, Y10
	VMAXPD  Y9, Y0, Y0
	VMAXPD  Y10, Y0, Y0
	VSUBPD  Y9, Y9, Y9
	VSUBPD  Y10, Y10, Y10
	VADDPD  Y9, Y1, Y1
	VADDPD  Y10, Y1, Y1
	VROUNDPD $8, Y2, Y2
	VROUNDPD $8, Y3, Y3
	VMULPD  Y2, Y6, Y2
	VMULPD  Y3, Y6, Y3
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, 32(DI)
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     grid256loop
	VCMPPD    $13, Y8, Y0, Y0 // at least the most
	VCMPPD    $3, Y1, Y1, Y1
	VORPD     Y0, Y1, Y0
	VMOVMSKPD Y0, AX
	TESTL AX, AX
	SETEQ fits+24(FP)
	VZEROUPPER
	RET
