// Package modular counts ranks and solves linear questions about rational matrices exactly, but for a chance of some
// 2⁻⁵⁰, in arithmetic modulo the prime 2⁶¹-1.
package modular
