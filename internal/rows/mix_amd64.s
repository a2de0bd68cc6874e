#include "textflag.h"
#include "go_asm.h"

// Two vectors of numbers at a time, of 64 or of 32 bytes. Nothing is fused: see mix.go for what is done.

// func settle()
TEXT ·settle(SB), NOSPLIT, $0-0
	SFENCE
	RET

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

// func addFour512(dst, weights *float64, rows **float64, n int)
TEXT ·addFour512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         weights+8(FP), AX
	MOVQ         rows+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD (AX), Z8
	VBROADCASTSD 8(AX), Z9
	VBROADCASTSD 16(AX), Z10
	VBROADCASTSD 24(AX), Z11
	MOVQ         (DX), R8
	MOVQ         8(DX), R9
	MOVQ         16(DX), R10
	MOVQ         24(DX), R11
	MOVQ         32(DX), R12
	MOVQ         40(DX), R13
	MOVQ         48(DX), SI
	MOVQ         56(DX), DX
	SHLQ         $3, CX
	XORQ         BX, BX

addFour512loop:
	PREFETCHT1 (R12)(BX*1)
	PREFETCHT1 64(R12)(BX*1)
	PREFETCHT1 (R13)(BX*1)
	PREFETCHT1 64(R13)(BX*1)
	PREFETCHT1 (SI)(BX*1)
	PREFETCHT1 64(SI)(BX*1)
	PREFETCHT1 (DX)(BX*1)
	PREFETCHT1 64(DX)(BX*1)
	VMOVUPD (DI)(BX*1), Z0
	VMOVUPD 64(DI)(BX*1), Z1
	VMULPD (R8)(BX*1), Z8, Z2
	VMULPD 64(R8)(BX*1), Z8, Z3
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VMULPD (R9)(BX*1), Z9, Z2
	VMULPD 64(R9)(BX*1), Z9, Z3
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VMULPD (R10)(BX*1), Z10, Z2
	VMULPD 64(R10)(BX*1), Z10, Z3
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VMULPD (R11)(BX*1), Z11, Z2
	VMULPD 64(R11)(BX*1), Z11, Z3
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VMOVUPD Z0, (DI)(BX*1)
	VMOVUPD Z1, 64(DI)(BX*1)
	ADDQ    $128, BX
	CMPQ    BX, CX
	JNE     addFour512loop
	VZEROUPPER
	RET

// func cascade512(dst, src *float64, c *Cascade, kept *[]float64, n int)
TEXT ·cascade512(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         c+16(FP), AX
	MOVQ         kept+24(FP), R10
	MOVQ         n+32(FP), CX
	VBROADCASTSD Cascade_scale(AX), Z15
	MOVQ         Cascade_sections(AX), R8
	MOVQ         (Cascade_sections+8)(AX), R13
	SHLQ         $3, CX
	MOVQ         Cascade_poles(AX), R14
	IMULQ        CX, R14
	ADDQ         (R10), R14 // behind the kept rows
	XORQ         BX, BX

cascade512loop:
	VMULPD (SI)(BX*1), Z15, Z0
	VMULPD 64(SI)(BX*1), Z15, Z1
	MOVQ   R8, AX
	MOVQ   R10, DX
	MOVQ   R13, R9

cascade512section:
	MOVQ         (DX), R11
	PREFETCHT1   (R14)
	ADDQ         $64, R14
	VBROADCASTSD Section_P(AX), Z8
	VBROADCASTSD Section_A(AX), Z9
	VADDPD       (R11)(BX*1), Z0, Z2
	VADDPD       64(R11)(BX*1), Z1, Z3
	VMULPD       Z2, Z8, Z4
	VMULPD       Z3, Z8, Z5
	VMULPD       Z0, Z9, Z6
	VMULPD       Z1, Z9, Z7
	VSUBPD       Z6, Z4, Z4
	VSUBPD       Z7, Z5, Z5
	CMPQ         Section_Poles(AX), $1
	JEQ          cascade512stored
	ADDQ         $24, DX
	MOVQ         (DX), R12
	PREFETCHT1   (R14)
	ADDQ         $64, R14
	VBROADCASTSD Section_Q(AX), Z8
	VBROADCASTSD Section_B(AX), Z9
	VADDPD       (R12)(BX*1), Z4, Z4
	VADDPD       64(R12)(BX*1), Z5, Z5
	VMULPD       Z0, Z9, Z6
	VMULPD       Z1, Z9, Z7
	VMULPD       Z2, Z8, Z10
	VMULPD       Z3, Z8, Z11
	VSUBPD       Z10, Z6, Z6
	VSUBPD       Z11, Z7, Z7
	VMOVUPD      Z6, (R12)(BX*1)
	VMOVUPD      Z7, 64(R12)(BX*1)

cascade512stored:
	VMOVUPD Z4, (R11)(BX*1)
	VMOVUPD Z5, 64(R11)(BX*1)
	VMOVAPD Z2, Z0
	VMOVAPD Z3, Z1
	ADDQ    $24, DX
	ADDQ    $Section__size, AX
	DECQ    R9
	JNZ     cascade512section
	VMOVUPD Z0, (DI)(BX*1)
	VMOVUPD Z1, 64(DI)(BX*1)
	ADDQ    $128, BX
	CMPQ    BX, CX
	JNE     cascade512loop
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

// func narrow512(dst *float32, src *float64, n int) (finite, exact bool)
TEXT ·narrow512(SB), NOSPLIT, $0-26
	MOVQ   dst+0(FP), DI
	MOVQ   src+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORQ Z0, Z0, Z0 // stays 0, or becomes NaN
	KXORW  K1, K1, K1 // those that are not the same any more

narrow512loop:
	VMOVUPD   (SI), Z1
	VMOVUPD   64(SI), Z2
	VCVTPD2PS Z1, Y3
	VCVTPD2PS Z2, Y4
	VMOVUPS   Y3, (DI)
	VMOVUPS   Y4, 32(DI)
	VCVTPS2PD Y3, Z3
	VCVTPS2PD Y4, Z4
	VCMPPD    $4, Z1, Z3, K2
	VCMPPD    $4, Z2, Z4, K3
	KORW      K2, K1, K1
	KORW      K3, K1, K1
	VSUBPD    Z3, Z3, Z3
	VSUBPD    Z4, Z4, Z4
	VADDPD    Z3, Z0, Z0
	VADDPD    Z4, Z0, Z0
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       narrow512loop
	KMOVW     K1, AX
	TESTL     AX, AX
	SETEQ     exact+25(FP)
	VCMPPD    $3, Z0, Z0, K1
	KMOVW     K1, AX
	TESTL     AX, AX
	SETEQ     finite+24(FP)
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

// func addFour256(dst, weights *float64, rows **float64, n int)
TEXT ·addFour256(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         weights+8(FP), AX
	MOVQ         rows+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD (AX), Y8
	VBROADCASTSD 8(AX), Y9
	VBROADCASTSD 16(AX), Y10
	VBROADCASTSD 24(AX), Y11
	MOVQ         (DX), R8
	MOVQ         8(DX), R9
	MOVQ         16(DX), R10
	MOVQ         24(DX), R11
	MOVQ         32(DX), R12
	MOVQ         40(DX), R13
	MOVQ         48(DX), SI
	MOVQ         56(DX), DX
	SHLQ         $3, CX
	XORQ         BX, BX

addFour256loop:
	PREFETCHT1 (R12)(BX*1)
	PREFETCHT1 (R13)(BX*1)
	PREFETCHT1 (SI)(BX*1)
	PREFETCHT1 (DX)(BX*1)
	VMOVUPD (DI)(BX*1), Y0
	VMOVUPD 32(DI)(BX*1), Y1
	VMULPD (R8)(BX*1), Y8, Y2
	VMULPD 32(R8)(BX*1), Y8, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VMULPD (R9)(BX*1), Y9, Y2
	VMULPD 32(R9)(BX*1), Y9, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VMULPD (R10)(BX*1), Y10, Y2
	VMULPD 32(R10)(BX*1), Y10, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VMULPD (R11)(BX*1), Y11, Y2
	VMULPD 32(R11)(BX*1), Y11, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VMOVUPD Y0, (DI)(BX*1)
	VMOVUPD Y1, 32(DI)(BX*1)
	ADDQ    $64, BX
	CMPQ    BX, CX
	JNE     addFour256loop
	VZEROUPPER
	RET

// func cascade256(dst, src *float64, c *Cascade, kept *[]float64, n int)
TEXT ·cascade256(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         c+16(FP), AX
	MOVQ         kept+24(FP), R10
	MOVQ         n+32(FP), CX
	VBROADCASTSD Cascade_scale(AX), Y15
	MOVQ         Cascade_sections(AX), R8
	MOVQ         (Cascade_sections+8)(AX), R13
	SHLQ         $3, CX
	MOVQ         Cascade_poles(AX), R14
	IMULQ        CX, R14
	ADDQ         (R10), R14 // behind the kept rows
	XORQ         BX, BX

cascade256loop:
	VMULPD (SI)(BX*1), Y15, Y0
	VMULPD 32(SI)(BX*1), Y15, Y1
	MOVQ   R8, AX
	MOVQ   R10, DX
	MOVQ   R13, R9

cascade256section:
	MOVQ         (DX), R11
	PREFETCHT1   (R14)
	ADDQ         $32, R14
	VBROADCASTSD Section_P(AX), Y8
	VBROADCASTSD Section_A(AX), Y9
	VADDPD       (R11)(BX*1), Y0, Y2
	VADDPD       32(R11)(BX*1), Y1, Y3
	VMULPD       Y2, Y8, Y4
	VMULPD       Y3, Y8, Y5
	VMULPD       Y0, Y9, Y6
	VMULPD       Y1, Y9, Y7
	VSUBPD       Y6, Y4, Y4
	VSUBPD       Y7, Y5, Y5
	CMPQ         Section_Poles(AX), $1
	JEQ          cascade256stored
	ADDQ         $24, DX
	MOVQ         (DX), R12
	PREFETCHT1   (R14)
	ADDQ         $32, R14
	VBROADCASTSD Section_Q(AX), Y8
	VBROADCASTSD Section_B(AX), Y9
	VADDPD       (R12)(BX*1), Y4, Y4
	VADDPD       32(R12)(BX*1), Y5, Y5
	VMULPD       Y0, Y9, Y6
	VMULPD       Y1, Y9, Y7
	VMULPD       Y2, Y8, Y10
	VMULPD       Y3, Y8, Y11
	VSUBPD       Y10, Y6, Y6
	VSUBPD       Y11, Y7, Y7
	VMOVUPD      Y6, (R12)(BX*1)
	VMOVUPD      Y7, 32(R12)(BX*1)

cascade256stored:
	VMOVUPD Y4, (R11)(BX*1)
	VMOVUPD Y5, 32(R11)(BX*1)
	VMOVAPD Y2, Y0
	VMOVAPD Y3, Y1
	ADDQ    $24, DX
	ADDQ    $Section__size, AX
	DECQ    R9
	JNZ     cascade256section
	VMOVUPD Y0, (DI)(BX*1)
	VMOVUPD Y1, 32(DI)(BX*1)
	ADDQ    $64, BX
	CMPQ    BX, CX
	JNE     cascade256loop
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

// func narrow256(dst *float32, src *float64, n int) (finite, exact bool)
TEXT ·narrow256(SB), NOSPLIT, $0-26
	MOVQ   dst+0(FP), DI
	MOVQ   src+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPD Y0, Y0, Y0 // stays 0, or becomes NaN
	VXORPD Y5, Y5, Y5 // those that are not the same any more

narrow256loop:
	VMOVUPD    (SI), Y1
	VMOVUPD    32(SI), Y2
	VCVTPD2PSY Y1, X3
	VCVTPD2PSY Y2, X4
	VMOVUPS    X3, (DI)
	VMOVUPS    X4, 16(DI)
	VCVTPS2PD  X3, Y3
	VCVTPS2PD  X4, Y4
	VCMPPD     $4, Y1, Y3, Y1
	VCMPPD     $4, Y2, Y4, Y2
	VORPD      Y1, Y5, Y5
	VORPD      Y2, Y5, Y5
	VSUBPD     Y3, Y3, Y3
	VSUBPD     Y4, Y4, Y4
	VADDPD     Y3, Y0, Y0
	VADDPD     Y4, Y0, Y0
	ADDQ       $64, SI
	ADDQ       $32, DI
	SUBQ       $8, CX
	JNZ        narrow256loop
	VMOVMSKPD  Y5, AX
	TESTL      AX, AX
	SETEQ      exact+25(FP)
	VCMPPD     $3, Y0, Y0, Y0
	VMOVMSKPD  Y0, AX
	TESTL      AX, AX
	SETEQ      finite+24(FP)
	VZEROUPPER
	RET
