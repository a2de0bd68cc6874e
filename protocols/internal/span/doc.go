// Package span finds what a coalition learns of v(0) from the messages v_ℓ(t) = e_ℓᵀWᵗv(0) that it sees of a consensus.
//
// A row (ℓ, t) that is a combination of earlier ones, in the order of rounds, makes (ℓ, t+1) one, too: the spans of
// earlier rows go over into each other when multiplied by W. So each neighbour has a chain of rows, which ends for
// good when nothing is new. Whether something is new is decided exactly, modulo a prime.
//
// How much of a source's variance is explained takes a projection. Rows become parallel after a few rounds, and standard
// deviations may be far apart: numbers have as many binary digits as the factorization turns out to lose, twice, and more
// (Explain).
package span
