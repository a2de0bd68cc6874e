// Package partpsp trains models on top of DPPS (Zhou, Xue & Chen, Algorithm 2): some layers of a model are shared,
// the others stay with their node. Node i holds the parameters (s_i, l_i), whose first layers s are shared. In a
// round it takes a batch and
//
//	l_i ← l_i - γ_l ∇_l F(y_i, l_i)
//	ε_i = -γ_s clip(∇_s F(y_i, l_i)),     clip to ‖·‖₁ ≤ 𝔠,
//
// which DPPS averages with noise. Sharing all layers is SGPDP, stochastic gradient push with noise.
//
// It knows neither data nor models: a Task counts records and makes Learners, which compute gradients. A round hides
// whose message an answer is, as package dpps says; rounds do not compose.
package partpsp
