// Package simulate trains models with MF-D-SGD, to see what the noise of a strategy costs in test loss.
//
// # The algorithm
//
// Bellet et al., Algorithm 1, with batches and K gossip rounds a step: all nodes start from one θ, and in step t node u does
//
//	g = 1/|B| · Σ over its batch B of clip(∇ℓ(θ_u; x), Δ)
//	θ_u ← θ_u - η (g + row t of C⁻¹Z)            Z: T×d, independent N(0, (sens·contribution/(μ·m))²)
//	θ   ← W^K θ
//
// where m is the node's smallest batch, so that a mean over any of its batches is covered, and contribution is how far one
// record moves a sum of clipped gradients (Δ, or 2Δ if records are replaced: package accounting). Steps are counted from
// 0 inside, and from 1 in results: Losses[i] is measured after Steps[i] steps.
//
// # Participation
//
// The records are dealt to the nodes evenly and at random, each node's records into b batches, and step t takes batch
// t mod b. Whether that is what the strategy's sensitivity was computed for is checked twice: before the run, and in it,
// where a participation.Ledger notes every record in every step it takes part in and refuses what the schema does not allow.
//
// Config.Sampling draws batches of varying sizes instead, of which the attackers know nothing. Sums of clipped gradients
// are then divided by the expected size, which is public, never by the real one; noise of Noise.Multiplier·sens·Δ is added
// to the sum; an empty batch takes noise and a step as any other. What is checked is the contract of the sampler, and that
// the strategy is one that its accountant knows: of at most as many bands as Poisson sampling has groups, without negative
// entries for bins.
//
// # What is fast
//
// Numbers are float32, as in training; losses, norms and means are float64. Products over a batch are matrix products.
// Gradients of single records are never formed: a layer's gradient for one record is an outer product, whose norm is the
// product of two norms.
//
// # What is reproducible
//
// A seed decides split, shards, start and Z, each from a stream of its own (ChaCha8), for every method alike: compare methods
// paired by seed. The number of workers changes nothing, not even the last bit. The noise is that of a simulation: it
// protects nobody's records (package noise does).
//
// # Studies
//
// A Study is a run for every method, level of privacy and seed, as cells of package study: Study.Do computes one, and
// whoever makes the same study computes the same. A Grid sums them up in Rows, paired by seed. Methods are no noise, the
// baselines of package baselines, the certified optimum of the network, and exports. With the scheme
// participation.Poisson levels are ε, batches are drawn in secret, from as many groups as a method's strategy has bands,
// and the noise is what package accounting calibrates for the rounds of a group; the optimum is that of bands. With
// participation.Bins every record has one secret batch of b, the noise is that of accounting.Bins, and the optimum a
// strategy without negative entries that is searched for every ε.
//
// # Notation
//
//	n, T   nodes, steps
//	d      parameters of a model
//	b      batches of a node, after which they come again
//	η, Δ   learning rate, clipping norm
//	w      groups that Poisson sampling draws from in turn, and bands of strategies
//	μ      of Gaussian differential privacy, against everybody who sees all messages
package simulate
