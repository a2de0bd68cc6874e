// Package doubledouble computes with numbers of 106 bits, each the sum of two floating-point numbers (Dekker 1971;
// Hida, Li & Bailey 2001): some thirty times faster than numbers of any precision, with the range of one.
package doubledouble
