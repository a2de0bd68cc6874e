// Package verify computes again what an export says of itself. It trusts nothing but the bytes of the files, and knows
// nothing of package plan, which wrote them: nobody has to believe Solve.
//
// [Verify] takes an export (package export) and the network that it is for, or makes a built-in one again, and returns a
// [Report]: checks that hold or fail, the keys of the manifest that it could not check, and the files of a network that
// are not at hand. [NetworkOf] and [NetworkOptions] return the network of an export, compared with its manifest;
// [StepErrors] the errors of its strategies step by step.
//
// The package prints nothing and knows no command line.
package verify
