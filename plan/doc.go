// Package plan is the pipeline: from a network and who may take part when to the best strategy, with the proof of how good
// it is, and back from an export to what its manifest claims.
package plan
