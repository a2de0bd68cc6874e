// Package npy reads and writes arrays of numbers in NumPy's .npy format, with nothing taken on trust: a header is
// parsed strictly, and sizes are compared with what the file can hold before anything is allocated.
//
// It exists because the library at hand (github.com/sbinet/npyio 0.6) pads its headers against the format, allocates
// what a header asks for, and writes no arrays of more than two dimensions.
//
// # The format
//
//	"\x93NUMPY"  major minor  length  {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }   \n  numbers
//	6 bytes      2 bytes      2 or 4  a Python dictionary, padded so that the numbers start at a multiple of 64
//
// The length has 2 bytes in version 1, 4 bytes in versions 2 and 3 (which differ in the encoding of text, which
// the headers of numbers do not need). Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// # What is read
//
// bool, int, uint of 1 to 8 bytes and float of 4 or 8 bytes, in either byte order, become float64, in C order whatever
// the order of the file. What float64 cannot hold exactly is an error: integers beyond 2⁵³; as are bools other than 0
// and 1, complex numbers, strings, objects and records. What is written is float64, little-endian, C order, byte for
// byte as numpy.save writes it.
package npy
