// Package verify computes again what an export says of itself. It trusts nothing but the bytes of the files, and knows
// nothing of package plan, which wrote them: a report needs no trust in Solve.
//
// [Verify] takes an export (package export) and the network that it is for, or makes a built-in one again, and returns
// a [Report]: checks that hold or fail, the keys of the manifest that it could not check, and the files of a network
// that are not at hand. [NetworkOf] and [NetworkOptions] return the network of an export, compared with its manifest;
// [StepErrors] the errors of its strategies step by step.
//
// # How a key is checked
//
// A second manifest is made, of what is computed again. Keys.go is the table: for every key that a manifest can have,
// how the two are compared (exactly, within a relative difference, or as a bound), and in which check; or that a check
// judges it, that all else is computed from it, or that nothing is known of it. A key without a line there fails a
// test; a number that no check has compared fails the verification.
//
// What compares no key is a check of its own: the hashes, C·C⁻¹ = I, W's rows, the contract, what attackers see.
//
// The package prints nothing and knows no command line.
package verify
