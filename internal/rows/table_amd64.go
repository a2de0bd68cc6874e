package rows

import "math"

// table are the constants of the kernels, a vector of each; table_amd64.h says where.
//
//lint:ignore U1000 the kernels in assembly use it
var table = func() (t [60][8]float64) {
	at := 0
	add := func(list ...float64) {
		for _, c := range list {
			for i := range t[at] {
				t[at][i] = c
			}
			at++
		}
	}
	for _, c := range []*[8]float64{&as241a, &as241b, &as241c, &as241d} {
		for i := range c {
			add(c[7-i])
		}
	}
	add(2.0 / 25) // twice atanh, which changes no digits
	for _, c := range atanhSeries {
		add(2 * c)
	}
	add(math.Float64frombits(1<<52-1), // of bits: where the fraction is
		0.5, 1, 1-0x1p-53, 0.5-0x1p-54, 0.180625, 0.425,
		math.Float64frombits(1<<63), math.Float64frombits(1<<63-1<<52), // where the sign is, and the eleven unused bits
		math.Sqrt2/2, -math.Ln2, 1.6, 5,
		0x1p52, 0x1p52+1023) // a number with an integer for its fraction, and a number with an exponent of 0
	return t
}()
