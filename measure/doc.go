// Package measure computes what strategies are measured by on a network, as a manifest names it: the kernel or Gram
// matrix of the errors, exactly or by an estimate, with how far the estimate may be off; and the objectives.
//
//	Objective   which errors count: Mean, Worst, Last
//	Gram        how the Gram matrix is asked for; Choose returns the block "gram" of the manifest
//	Source      from that block and the network to a kernel or, for very many steps, to responses
//	Judge       how far the loss of a strategy may be from what an estimate says
//	OtherLoss   what the strategy for another training costs
//	Training    the excess risk of a training of a quadratic loss, in advance: what is left of the start, and of the noise
//
// It is what package plan, which writes manifests, and package verify, which checks them, have in common.
package measure
