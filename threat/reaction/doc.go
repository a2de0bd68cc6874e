// Package reaction bounds what an attacker learns of a node whose neighbours train: hidden gradients of honest nodes
// answer to models that hold the victim's data.
//
// NewVictims is the function to call: a System (who hears whom, and what the attacker sees), a Victim, a Reaction (how
// strongly a node's step may answer to its model) give a squared sensitivity that no training of that class exceeds.
// All bounds every node at once, more loosely. Without a class, or in any doubt, the answer is local DP, and Result.Why
// says why.
//
// # What is wrong without it
//
// The matrix M of package threat is exact if no gradient depends on anything but what the attacker saw. Training breaks
// that twice. Hidden nodes compute gradients at hidden models: on a path of three nodes, two steps, M says 0.1 for the
// far end, and a middle node that answers 26θ leaks 676/685. And the record's own gradient may depend on its node's
// hidden model, so that with more than one participation no sound bound equals M in general.
//
// # Setting
//
// A record moves a gradient sum by at most 1, noise is N(0, 1) per coordinate, models are divided by the learning rate.
// The m nodes that are not attackers are hidden: models x_t are m rows, the vectors
//
//	msg_t = φ_t(x_t) + noise,     y_t = H_t msg_t is seen,     x_{t+1} = W_t msg_t + what the attacker knows.
//
// Messages and noise of attackers, public randomness and networks are known, so attackers may be malicious. A node's
// step φ_v sees its own model, what is known, and private randomness that does not depend on the record; never a single
// hidden message.
//
// Class (ρ_v, κ_v): |φ_v(x) − φ_v(x') − ρ_v(x − x')| ≤ κ_v |x − x'| for all models and every known history. The steps
// of the victim u with and without the record differ by at most 1 at any model in the steps of a pattern π, and not at
// all in others; one of the two is in the class, so the record itself needs no smoothness.
//
// # Theorem
//
// For any matrices Θ_t with H_t Θ_t = 0 and any multipliers τ_t (m numbers) and α_t > 0 let P_T = 0 and backwards, with
// X_t = W_tᵀ P_{t+1} W_t and R = diag(ρ),
//
//	Q_t = (I − Θ_t)ᵀ(I − Θ_t) + Θ_tᵀ X_t Θ_t
//	B_t = diag(κ), and the column e_u if t ∈ π;   D_t = diag(τ_t), and α_t;   D_t ≻ B_tᵀ Q_t B_t is required
//	P_t = diag(τ_t) + R [Q + Q B (D − BᵀQB)⁻¹ BᵀQ] R.
//
// Then, t0 the first step of π, the view is μ-GDP with μ² = Q_{t0}[u,u] + Σ α_t over the later steps of π, for models
// of any dimension and every nonlinear, time-varying, adversarial answer of the class.
//
// Proof. One run has noise z, the other z + c. With e the difference of the models and s the difference of the steps before
// noise, known before z_t is drawn, choose r = Θs and c = s − r. The messages differ by r, Hr = 0, so both runs show
// the same, and e_{t+1} = W r. Now s = Re + Kδ + a e_u with |δ_v| ≤ |e_v| and |a| ≤ 1. Let V_t(e) = tr eᵀP_t e + the
// later α. What is paid from step t on, Σ|c|², is at most tr sᵀQ_t s + later α; completing the square in (δ, a) bounds
// it by tr eᵀP_t e + α + Σ τ_v (|δ_v|² − |e_v|²) + α(|a|² − 1) ≤ V_t(e). So Σ|c_t|² ≤ μ² surely. Predictable shifts of
// Gaussian noise with Σ|c_t|² ≤ μ² surely are μ-GDP (Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2022): one more
// coordinate, shifted by (μ² − Σ|c|²)^½, makes the sum exactly μ², and then Σ⟨c_t, Z_t⟩ is a Gaussian of variance μ². ∎
//
// The bound is sure, no run is stopped or truncated, and it is attained by linear answers ρ ± κ wherever the
// multipliers are stationary with |δ_v| = |e_v|: for one participation it rarely is a millionth above an attack.
//
// # Algorithm
//
// All multipliers prove something; good ones come from the worst run. A linear pass backwards, in which every node
// answers as near to "not at all" as its class allows, gives Θ and Q. Forward from s = e_u the differences e_t follow.
// Backwards again with
//
//	D_j = (1 + 10⁻⁹) (|(BᵀQRe)_j| + Σ_l |BᵀQB|_jl n_l) / n_j,     n_v = |e_v|, 1 for the record's own input,
//
// D − BᵀQB is diagonally dominant in the scale n, and the bound is proven. Two more rounds go forward with the new Θ
// and the worst answer (eight power steps), and backward. The least number is taken, and never more than local DP.
//
// Closed-form multipliers bound |BᵀQBδ| by sums of absolute values, which is loose where κ is large. Two more stages remedy
// that. Balanced multipliers, D_j n_j = |(BᵀQ(Re + Bδ))_j|, are made of the answers δ that cost the most in each step; they
// are found in six dimensions, answer by answer, and D(1 − 10⁻⁶) ≻ BᵀQB is proven afterwards (saddle.go). And for a fixed
// feedback the bound is a maximum, over runs, of numbers linear in the multipliers: its slope in τ_v is |e_v|² − |δ_v|² in
// the worst run, and a quasi-Newton method goes down until passes gain little (descend.go). Every pass is a proof.
//
// Every pattern of a schema is looked at. Where all steps are alike a pattern that begins later is no worse than the
// same one that begins in step 0, which has more time left; else only bounds count: a pattern is refined until the
// worst number that is left is refined. Patterns that are too many to list (of min-sep) are bounded by (Σ √Q_t[u,u])²,
// one participation after the other.
//
// # More than one number a node
//
// A Rule says what a node makes of the numbers it keeps, its gradient and fresh noise: momentum, decay, rates, and the
// filter of a strategy C (Correlated). The state is then (e, memory), the noise shift c the shift of the white noise, and
// the theorem the same, with the constraint on messages only. In the memory's directions P may grow without bound, so
// multipliers get σκ_v Q_vv on top for several σ, and the least bound is taken. A dense C has the state of all its
// noise, for small m·T; else CᵀC ⪯ γ C'ᵀC' for a C' of little memory gives γ times the bound for C' (Dominate): a BLT
// that is fitted so that γ times its local DP is small, or C itself cut to a small memory by balanced truncation
// (Strategies). Attacks need no stand-in: whatever C is, a statistic of what linear answers show reaches what it reaches,
// and conjugate gradients find a good one; answers are turned to the ends of their classes from four starts (reach.go).
//
// # Numerics
//
// A bound that comes out too small is the worst thing that can happen, so every step of the argument is one that
// rounding cannot turn:
//
//   - Q is computed in the form above, a bound for any Θ. Θ = N F Nᵀ with a basis N of the null space of H fulfils
//     HΘ = 0 whatever F is, so an inexact inverse costs and never gains; digits of far victims stay.
//   - D − BᵀQB ≻ 0 is proven by a Cholesky factorization of less than it, with the factorization's rounding (Higham,
//     Theorem 10.3); P is computed with that smaller matrix. Where it fails D is raised, Q never lowered. Where the
//     diagonal hardly dominates, because the run costs nothing, multipliers are a millionth larger.
//   - Columns of B with Q_vv = 0 drop out; their nodes stay in the state.
//   - Where multipliers or P are so large that digits are lost, the result is local DP.
//   - What rounding may have taken from Q and P is bounded step by step, by the same products of absolute values, and
//     added as a diagonal (rounding.go).
//   - Results are raised by 10⁻⁷ on top, and by 10⁻¹² of sensitivity for what is smaller than rounding.
//   - A result below what a linear attack reaches exactly is thrown away for local DP.
//
// # How tight
//
// Of the victim who loses most at each distance: if gradients do not react / what linear answers of the class really
// reach / the bound; attacks rounded down, the others up. docs/network-privacy.md has florentine. Attacker 640 of the ego
// graph (148 nodes), T = 10, k = 1, local DP 1 (mafalda account --graph ego.edges --T 10 -k 1 --attacker 640 --reaction
// convex:0.1,worst-answer, with --trust pndp:secure-summation for sums):
//
//	class          messages, distance 2      distance 3                           sums, distance 1         distance 2                distance 3
//	convex:0.1     .029001/.0290004/.029001  4.174294e-5/4.17475e-5/4.174859e-5   .05004/.0501886/.050189  .021054/.0210822/.021083  2.645377e-6/2.73367e-6/2.733740e-6
//	convex:1       .029001/.0290005/.029001  4.174294e-5/4.17813e-5/4.178448e-5   .05004/.0515907/.051591  .021054/.0212568/.021258  2.645377e-6/3.54927e-6/3.549432e-6
//	lipschitz:1    .029001/.0290006/.029001  4.174294e-5/4.18084e-5/4.181295e-5   .05004/.0532441/.053375  .021054/.0213195/.021333  2.645377e-6/4.4938e-6/4.975944e-6
//	lipschitz:1.2  .029001/.0412621/.041263  4.174294e-5/3.032873e-4/3.032982e-4  .05004/.0567159/.056988  .021054/.0305473/.030565  2.645377e-6/3.49974e-5/3.951763e-5
//	smooth:0.05    .029001/.0318836/.031884  4.174294e-5/6.58465e-5/6.584798e-5   .05004/.0506533/.050654  .021054/.0231871/.023188  2.645377e-6/4.30835e-6/4.308441e-6
//
// and with --T 32 -k 4, where local DP is 4; 6 to 20 seconds of a core each:
//
//	class        messages, distance 2     distance 3                           sums, distance 1        distance 2                distance 3
//	convex:0.1   .115951/.115957/.116002  6.597928e-4/6.598962e-4/6.598966e-4  .19488/.196489/.200755  .084129/.0842578/.08433   4.380452e-5/4.53679e-5/4.536817e-5
//	convex:1     .115951/.116002/.116003  6.597928e-4/6.605875e-4/6.605881e-4  .19488/.206358/.206364  .084129/.085027/.08503    4.380452e-5/5.97734e-5/5.977408e-5
//	lipschitz:1  .115951/.116002/.116003  6.597928e-4/6.610738e-4/6.6109e-4    .19488/.212951/.213498  .084129/.0852928/.085331  4.380452e-5/7.60125e-5/8.51754e-5
//	smooth:0.05  .115951/.127475/.127535  6.597928e-4/.00240764/.002408        .19488/.197896/.202614  .084129/.0926516/.092749  4.380452e-5/1.769854e-4/1.769859e-4
//
// Below, attacks are those of a search from one start, which may find less than today's.
//
// The optimum C of florentine for T = 32, k = 4 (mafalda optimize --graph florentine --T 32 -k 4 -o c32; mafalda account
// --graph florentine --T 32 -k 4 --algorithm mf-d-sgd --export c32 --attacker Medici --reaction convex:1,worst-answer), a
// minute each for messages, two to seven for sums:
//
//	class        messages, distance 2  distance 3
//	convex:0.1   .23705/.23740/.23759  .07715/.07731/.07731
//	convex:1     .23705/.23705/.23814  .07715/.07719/.07790
//	lipschitz:1  .23705/.23705/.23867  .07715/.07715/.07872
//	smooth:0.05  .23705/.27000/.27019  .07715/.10665/.10674
//
//	class        sums, distance 1      distance 2            distance 3
//	convex:0.1   .16389/.17294/.18541  .09485/.10828/.10835  .04485/.04827/.04829
//	convex:1     .16389/.36497/.39237  .09485/.13796/.14176  .04485/.05535/.06095
//	lipschitz:1  .16389/.38082/.49751  .09485/.15188/.17006  .04485/.05009/.09927
//	smooth:0.05  .16389/.16743/.18490  .09485/.13325/.13329  .04485/.07448/.07450
//
// What may stand for the optimum C of T = 380, k = 20; the scale of C' is in γ, and γ times the local DP of C' is 1 for C
// itself. The optimum for b = 19 has a sharp edge at lag 19, where records take part again: a memory below 19 cannot have
// it. (mafalda optimize --graph florentine --T 380 --no-baselines -o flo380; STRATEGY=$PWD/flo380/C.npy go test
// ./threat/reaction -run ^$ -bench StandIns -benchtime 1x; likewise ego.edges.)
//
//	C′                                memory  florentine: γ  γ·local DP  ego graph: γ  γ·local DP
//	the first 8 bands of C            7       4.09           3.56        4.26          3.71
//	16 bands                          15      2.31           2.14        2.31          2.16
//	64 bands                          63      1.42           1.54        1.35          1.44
//	a BLT fitted to dominate C        2       .065           2.34        .058          2.20
//	C reduced by balanced truncation  8       3.34           3.87        2.67          2.99
//	(the same)                        19      1.73           2.27        1.57          1.98
//	(the same)                        20      1.109          1.24        1.122         1.26
//	(the same)                        21      1.075          1.13        1.075         1.13
//
// What is then bounded, convex:0.1, local DP 1. The BLT alone has 0.54 at distance 2 of florentine, messages. On the ego
// graph a pass of refine takes three seconds of a core: eight passes for a victim that loses most, one for each that turns
// out not to. Nodes at distances 1 and 2 keep local DP, or nearly, where γ times the local DP of the stand-in is above 1.
//
//	T = 380, the optimum C, victim who loses most                       distance 1  2        3        4        5        6
//	florentine, Medici, messages: if gradients do not react             1           .285233  .116863
//	an attack (thirteen seconds)                                        .999999     .285497  .117278
//	the bound (six minutes)                                             1           .300869  .123683
//	florentine, Medici, sums: if gradients do not react                 .141978     .124678  .075865
//	an attack (seven seconds)                                           .156561     .145476  .079379
//	the bound (27 minutes)                                              .237390     .157678  .087457
//	ego graph, 640, messages: an attack (two minutes)                   .999999     .034586  .017624  .006559  .006725  1.582e-5
//	the bound of all victims at once (half a minute)                    1           1        .084432  .030440  .033785  .000178
//	ego graph, 640, sums: if gradients do not react                     .050728     .025608  .002743  .001023  .001037  2.434e-6
//	an attack (two minutes)                                             .052838     .026753  .002833  .000993  .001070  2.513e-6
//	the bound of all victims at once (half a minute)                    1           .987967  .008690  .003671  .004218  2.828e-5
//	the refined bound (nine minutes)                                    .111824     .055328  .004828  .001808  .001892  4.454e-6
//	ego graph, 576, messages: if gradients do not react (five minutes)  .981639     .041102  .002160  .002723  .001015  .001027
//	an attack (two minutes more)                                        .980905     .044073  .002160  .002723  .000953  .001027
//	the bound of all victims at once                                    1           1        .011881  .008336  .003515  .004038
//
// # What is not covered
//
// Steps that answer to anything hidden but the node's own model (gradient tracking, private memory that is no linear
// state, such as Adam's), noise that neighbours share, secret networks (Zip-DL), steps that are missed. Callers have
// local DP for these. The bound is loose for min-sep participation of many patterns, and in All for more than one
// participation or large κ.
//
// # Notation
//
//	m, T     hidden nodes, steps
//	W, H     how messages become models, and what is seen of them; hidden nodes only
//	ρ, κ     centre and radius of a node's answer
//	e, s, r  differences of two runs: models (and memory), steps before noise, messages
//	c        shift of the white noise that hides the difference
//	Q, P     what a difference s before noise, or e before the step, costs at most
//	τ, α     multipliers of the constraints |δ_v| ≤ |e_v| and |a| ≤ 1
//	Θ, N, F  Θ = N F Nᵀ: the feedback r = Θ s; N: orthonormal basis of the null space of H
package reaction
