// Package canaries audits a training that happened: from the messages of a node, which everybody may have, and the
// coins of records that were made up for it.
//
// # Canaries
//
// A canary is a record whose clipped gradient is clip·c, c a random direction of norm 1, in the steps in which its
// place among the records has it take part. A secret coin says whether it really does; where neighbours replace a
// record, whether it does or its opposite. What the messages tell about the coins is a lower bound for what they tell
// about any record, and everything that moves it away from the plan is a fault of the run.
//
// # Notation
//
//	T, d    steps; parameters of the model
//	O       T×d: what the messages say of the clipped sums: rows S_t + ν (C⁻¹Z)_t
//	L       root of the covariance of the noise in the steps whose message left: C⁻¹, or with missed steps the Cholesky
//	        factor of A C⁻¹ C⁻ᵀ Aᵀ, A the matrix that carries rows of missed steps into the next message
//	Y       L⁻¹O/ν, whitened: independent noise of deviation 1, plus gradients
//	1_i     0 or 1 for every step: whether canary i is to take part
//	f_i     L⁻¹ 1_i clip/ν; its norm μ_i is what an attacker who knows all else gets of canary i
//	K       YYᵀ/d: the identity of the noise, and what gradients add; eigenvalues below 1 are taken for 1
//	s_i     ⟨K⁻¹f_i, Y c_i⟩/√(f_iᵀK⁻¹f_i), of least variance: about N(coin·μ_i, 1), up to what gradients and other
//	        canaries add; of a canary that its opposite replaced N(-μ_i, 1)
//
// # What is computed
//
// One pass over the messages makes OOᵀ (T×T) and the products with V, the sums of the canaries of each pattern of steps,
// and so K, the weights of scores, and EEᵀ: E = O - FV is what is left if all canaries arrived as planned, F what one of
// each pattern adds. A second pass makes the scores, and, layer by layer, ⟨V, QE⟩, by which faults are judged: Q is
// computed of E alone, of which the signs in V are independent in an honest run (amplitude). Audit then
// says: how much of a canary arrived, as μ with its standard error; a lower bound of ε that holds with a confidence
// (bound.go); and whether one of the statistics of Fault is out of what an honest run has. That none is proves
// nothing.
//
// What an attacker received is audited alike (view.go): its rows are the messages of the nodes that it hears, less
// what it knows.
//
// # Programs without a plan
//
// What any program released (Record) is audited against a description of its rounds, as of package accounting/spent, by
// AuditRecord (claimed.go).
//
// # Measured
//
// Hypercube of 8 nodes, T = 160, k = 20, ε = 8, δ = 1e-5 (μ = 1.666), 1,000 canaries a node, honest runs:
//
//	runs                                                                       parameters  μ within 2 std. errors  alarms  bounds above the claim
//	104: 13 trainings of a perceptron, 8 nodes (tests/audited_trainings.py)    105,546     101                     0       0
//	100 with made-up sums (tests/audited_seeds.py)                             100,000     93                      0       0
//	100                                                                        20,000      94                      0       0
//	20 with carried rows of 5 % missed steps, 20 with drawn batches            20,000                              0       0
//
// The trainings are of scikit-learn's digits, 40 records a node; ε is at least 3.1 to 5.2.
//
// # Files
//
// coins.json (Coins), whose last key is sha256, of the file up to `, "sha256": "`. With S(n) = SHAKE128 of the format, the key
// (32 bytes) and n as 8 bytes, little-endian, the coins are the bits of S(0), and the signs of direction i the bits of S(i+1):
// the lowest bit of a byte first, 1 is in, and +1/√d. Replaced, in exports with replace-one, says that a canary that is not in is
// replaced by its opposite; else by nothing.
//
// run.json (Run), and updates.f32, T×d float32, little-endian: (the model before a step - the message) / the learning rate,
// or NaN in a step whose message did not leave, and whose row the next one carries. With gradients true they are what an
// optimizer was given, noise and all, over size.
//
// What a node received has the format of a view, and Seen, Sizes and Rates; messages.f32 is the model that all nodes begin with,
// then for each step the node's own message and those of Seen, d float32 each.
//
// The folder of a Record has coins.json, of no export and without steps; round-0000.npy and so on, float32, what was released in a
// round; record.json (Record), sealed as coins.json is; and noising.npy, whose checksum record.json has, if
// noise is claimed to be correlated and no description says how.
package canaries
