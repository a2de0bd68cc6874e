// Package span finds what a coalition learns of v(0) from the messages v_ℓ(t) = e_ℓᵀWᵗv(0) that it sees of a consensus.
//
// A row (ℓ, t) that is a combination of earlier ones, in the order of rounds, makes (ℓ, t+1) one, too: the spans of
// earlier rows go over into each other when multiplied by W. So each neighbour has a chain of rows, which ends for
// good when nothing is new.
//
// Whether something is new is decided exactly, modulo a prime. The basis consists of all coordinates if everything is
// seen; otherwise it comes from block Arnoldi (arnoldi.go), in as much precision as it takes for the chains to end
// where they should: double, or 106 bits.
package span
