// Package simulate trains models with MF-D-SGD, to see what the noise of a strategy costs in test loss.
//
// # The algorithm
//
// Bellet et al., Algorithm 1, with batches: all nodes start from one θ, and in step t node u does
//
//	g = 1/|B| · Σ over its batch B of clip(∇ℓ(θ_u; x), Δ)
//	θ_u ← θ_u - η (g + row t of C⁻¹Z)            Z: T×d, independent N(0, (sens·contribution/(μ·m))²)
//	θ   ← W θ
//
// or, from g and the noise on, whatever else Config.Workload says: workload.State is the recursion, the same code that
// Gram matrices are defined by.
//
// where m is the node's smallest batch, so that a mean over any of its batches is covered, and contribution is how far
// one record moves a sum of clipped gradients (Δ, or 2Δ if records are replaced: package accounting). Steps are counted
// from 0 inside, and from 1 in results: Losses[i] is measured after Steps[i] steps.
//
// # Participation
//
// The records are dealt to the nodes evenly and at random, each node's records into b batches, and step t takes batch t
// mod b. Whether that is what the strategy's sensitivity was computed for is checked twice: before the run, and in it,
// where a participation.Ledger notes every record in every step it takes part in and refuses what the schema does not
// allow.
//
// Config.Sampling draws batches of varying sizes instead, of which the attackers know nothing. Sums of clipped
// gradients are then divided by the expected size, which is public, never by the real one; noise of
// Noise.Multiplier·sens·Δ is added to the sum; an empty batch takes noise and a step as any other. What is checked is
// the contract of the sampler, and that the strategy is one that its accountant knows: of at most as many bands as
// there are groups to draw from, without negative entries for bins.
//
// # Missed steps
//
// Nodes miss steps independently of each other and of their records (workload.Absence): there is no gradient and no
// noise then, but gossip. The batch of the step is skipped, and never shifted, so that separations stay. The row of
// noise that was not sent is lost, or carried: the next message adds all rows that were not sent. That is the same
// transcript with a gradient of 0, post-processed, so that μ stays; it takes for granted that the message was certainly
// not sent, as a row that was seen and is sent again reveals more.
//
// # Prediction and reality
//
// A Gram matrix H predicts what the noise does to the models: the open-loop response. The gradients of a run depend on
// the models and answer to the noise in their own way, which is why the difference of runs with and without noise is
// another number. So every run with noise also runs the recursion on its noise alone, from models of 0, with the rows
// of at most 16 parameters of the run, over the networks and with the absences of the run. Result.NoiseError is
//
//	Σ over steps, as they count, and nodes of the squared error of a parameter, mean over the parameters,
//
// for Z of standard deviation one at every node and a learning rate of one, so that it is what optimizers call the
// squared error: in expectation Result.Predicted = tr(C⁻ᵀHC⁻¹), or the sum of that over nodes with strategies and Gram
// matrices of their own. Predictions are left out where a Gram matrix would take long that no method needs. NoiseError
// in rows has both, with the standard error over the seeds.
//
// # What is fast
//
// Numbers are float32, as in training; losses, norms and means are float64. Products over a batch are matrix products.
// Gradients of single records are never formed: a layer's gradient for one record is an outer product, whose norm is
// the product of two norms.
//
// # What is reproducible
//
// A seed decides split, shards, start, Z, drawn networks and missed steps, each from a stream of its own (ChaCha8), for
// every method alike: compare methods paired by seed. The number of workers changes nothing, not even the last bit. The
// noise is simulated: it protects no records (package noise does).
//
// # Studies
//
// A Study is a run for every method, level of privacy and seed, as cells of package study: Study.Do computes one, and
// the same study computes the same everywhere. A Grid sums them up in Rows, paired by seed. Methods are no noise,
// the baselines of package baselines, which know the optimizer, the certified optimum of the network for the
// configuration's training, for gradients that answer to errors as the task's do (Mafalda; Task.Curvature) and for ones that do not
// (Uncurved), that for plain training (Ignorant), and exports. An export for more than plain training brings its
// training along where the configuration has nothing but plain training, and is refused for any other (TrainingError);
// its decay is for a rate of 1; the run's is times its rate. A shared strategy of another network is as private and not the
// optimum, which Study.Notes says; strategies of single nodes or groups go to the nodes of the same labels, and are refused
// on any other network. With levels of single nodes μ and the clip are the strictest μ and the largest clip, all nodes
// keep the proportions of the export, and NoiseError counts the noise of the strictest as 1. With the schemes
// participation.Poisson, Truncated and Allocation levels are ε, batches are drawn in secret, from as many groups as a
// method's strategy has bands, and the noise is what package accounting calibrates for the rounds of a group; the optimum
// is the best banded strategy. With participation.Bins every record has one secret batch of b, the noise is what
// bins.Mechanism needs, and the optimum a strategy without negative entries that is searched for every ε.
//
// Secrets and DECOR, and exports with shared noise, are compared at the same μ against weaker attackers (Study.Sharing).
// Both ends of a pair draw its row from the same stream and divide their sums by their own batches, so that in batches of
// unequal size a little remains. Predictions are tr(H(M)(CᵀC)⁻¹). Nodes that fail or miss steps have no prediction: the two
// methods are refused there, an export runs, and NoiseError shows what it has of uncancelled noise.
//
// With StudyOptions.Tune a study has a run for every learning rate as well, and the Grid has of every method and level the
// runs of the rate that is best on records kept apart. For linear regression Row.Prediction has the loss above training
// without noise, measured and predicted by the Gram matrix of the curvature (measure.Training).
//
// # Notation
//
//	n, T   nodes, steps
//	d      parameters of a model
//	b      batches of a node, after which they come again
//	η, Δ   learning rate, clipping norm
//	w      groups that Poisson sampling draws from in turn, and bands of strategies
//	μ      privacy level of Gaussian differential privacy, against attackers who see all messages
package simulate
