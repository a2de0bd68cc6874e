package export

import (
	"mafalda/graph"
	"mafalda/strategy"
	"mafalda/workload"
)

// ManifestName is the file name of the manifest.
const ManifestName = "manifest.json"

// Manifest describes an export, or a result that is printed. What does not apply is absent: pointers are nil, and keys
// are then left out.
type Manifest struct {
	Version string `json:"version" verify:"unchecked"`
	// Command is the command that makes the export, without the program; files are named as given; absent for a library call.
	Command  []string      `json:"command,omitempty" verify:"unchecked"`
	Graph    *graph.Origin `json:"graph,omitempty" verify:"block; network; absent"` // nil for the prefix workload
	Workload string        `json:"workload" verify:"given; network; absent"`
	// WorkloadSpec is the whole of it, of the kind Workload, without the matrices of networks that take turns.
	WorkloadSpec *workload.Spec `json:"workload_spec,omitempty" verify:"given; network"`
	// Curvature is how gradients react to errors, and what the squared error is of; absent: they do not.
	Curvature *workload.Spectrum `json:"curvature,omitempty"`
	// Family are the problems of which one, unknown which, will be there: all numbers are of a mixture of them. Absent: one problem.
	Family *Family `json:"family,omitempty"`
	// Objective is max or last; absent for mean, the sum over all steps.
	Objective string `json:"objective,omitempty" verify:"given; network; absent"`
	// Weights are the weights of the steps, Σ = 1: the error's mean with them proves LowerBound.
	Weights       []float64     `json:"objective_weights,omitempty" verify:"given in lower bound; network"`
	Steps         int           `json:"steps" verify:"given" in:"[1,1048576]"`
	Gram          *Gram         `json:"gram,omitempty" verify:"block; network; absent"`
	Participation Participation `json:"participation"`
	Trust         string        `json:"trust,omitempty" verify:"judged in space" in:"secldp"` // TrustSecLDP, with Space; absent: LDP
	Space         *Space        `json:"space,omitempty"`
	Strategy      Strategy      `json:"strategy"`
	PerNode       *PerNode      `json:"per_node,omitempty" verify:"block; network"`
	SensSquared   float64       `json:"sens_squared" verify:"judged in sensitivity" in:"(0,)"`     // squared sensitivity of the strategy as exported, rounded up
	SensKind      string        `json:"sens_kind" verify:"judged in sensitivity" in:"exact bound"` // "exact" or "bound"
	// SquaredError is tr(C⁻ᵀHC⁻¹), or of one step with Objective. Loss is SensSquared times that, and RMSE √(loss/(nT)), with m or
	// 1 in the place of T if the last m steps or one count.
	SquaredError float64 `json:"squared_error" verify:"within sums in loss; network; absent" in:"[0,)"`
	Loss         float64 `json:"loss" verify:"within sums in loss; within formula in arithmetic; network; absent" in:"(0,)"`
	RMSE         float64 `json:"rmse" verify:"within formula in arithmetic; network; absent" in:"[0,)"`
	// SharedLoss is, with PerNode, the loss of the best strategy that all nodes share.
	SharedLoss float64 `json:"shared_loss,omitempty" verify:"within searches in shared loss; network" in:"[0,)"`
	// LDPLoss is, with Space, what the same strategy class costs where every node has its own noise alone, and
	// JointLowerBound what no noise that is one covariance between nodes times one strategy over time can cost less than.
	// LowerBound and Gap are then absent.
	LDPLoss         float64 `json:"ldp_loss,omitempty" verify:"within coarse searches in local DP; network" in:"(0,)"`
	JointLowerBound float64 `json:"joint_lower_bound,omitempty" verify:"within joint in joint bound; network" in:"(0,)"`
	// LowerBound is of Loss, and absent for strategies of many steps where none is known. LowerBoundOf is OfEstimate where
	// it holds for the estimated Gram matrix of Gram, and not for the true one.
	LowerBound   float64 `json:"lower_bound,omitempty" verify:"at most in lower bound; network" in:"[0,)"`
	LowerBoundOf string  `json:"lower_bound_of,omitempty" verify:"judged in lower bound; network" in:"estimate"`
	// Gap is the certificate: how much is left to gain at most, (Loss - LowerBound)/LowerBound, or the same of
	// ErrorAtPrivacy and Sampling.LowerBound where batches are drawn in secret. It is absent where there is no bound.
	Gap        float64 `json:"gap,omitempty" verify:"within formula in arithmetic; network"`
	Tolerance  float64 `json:"tolerance" verify:"unchecked" in:"[0,)"`
	Iterations int     `json:"iterations" verify:"unchecked" in:"[0,)"`
	Status     string  `json:"status" verify:"unchecked in ending"`
	History    []Point `json:"history,omitempty" verify:"unchecked in ending; absent"` // search for the dense optimum, after every iteration
	// Baselines are dp-d-sgd, antipgd and d-mf, which knows the optimizer and is absent where the noise of some steps costs
	// nothing; with Objective mean-optimal; with Space ldp-optimal, decor (one variance for nodes, one for pairs, C = I) and
	// decor-strategy (with this C).
	Baselines map[string]Baseline `json:"baselines,omitempty" verify:"block; network; absent"`
	// PlainStrategyLoss is the loss on this workload of the strategy that is optimal for the plain workload of this
	// kind, at equal sensitivity; absent for plain workloads.
	PlainStrategyLoss float64 `json:"plain_strategy_loss,omitempty" verify:"within plain in plain strategy; network" in:"(0,)"`
	// UncurvedStrategyLoss is likewise of the strategy that is optimal for gradients that do not react; absent without
	// Curvature.
	UncurvedStrategyLoss float64 `json:"uncurved_strategy_loss,omitempty" verify:"within plain in uncurved strategy; network" in:"(0,)"`

	Privacy *Privacy `json:"privacy,omitempty" verify:"judged in privacy"`
	// Budgets are the levels of the nodes, where every node has its own; Privacy is then strict enough for all of them.
	// SquaredError, Loss and LowerBound count every node's noise by its level (LevelWeights), and OneLevelLoss is the least
	// loss at one level for all nodes, that of Privacy; it is absent with Space.
	Budgets      []NodeLevel `json:"budgets,omitempty"`
	OneLevelLoss float64     `json:"one_level_loss,omitempty" verify:"within searches in one level; network" in:"(0,)"`
	// OneBatchLoss is the least loss where every person is in one batch; absent unless people are in several.
	OneBatchLoss float64 `json:"one_batch_loss,omitempty" verify:"within searches in one batch; network" in:"(0,)"`
	// ErrorAtPrivacy is the squared error with the noise of Privacy, in units of the clip: (noise_std/clip)² times
	// squared_error. It is there for an (ε, δ) that was asked for, and comparable with all others for the same one.
	ErrorAtPrivacy float64 `json:"error_at_privacy,omitempty" verify:"within 2 formulas in arithmetic; network" in:"(0,)"`
	// CyclicErrorAtPrivacy is the error at equal privacy of the dense optimum for batches in turn, under the
	// participation that was asked for, if patterns do not overlap.
	CyclicErrorAtPrivacy float64   `json:"cyclic_error_at_privacy,omitempty" verify:"within 4 formulas in arithmetic; within candidate in candidates; network" in:"(0,)"`
	Sampling             *Sampling `json:"sampling,omitempty"`
	// Contract says in words what a node has to do for all this to be true of it (DescribeContract).
	Contract []string `json:"contract,omitempty" verify:"judged in contract"`

	Seconds   float64           `json:"seconds" verify:"unchecked" in:"[0,)"`
	PeakBytes int64             `json:"peak_bytes,omitempty" verify:"unchecked; absent" in:"[0,)"`
	Files     map[string]string `json:"files,omitempty" verify:"judged in hashes"` // name to SHA-256, lower-case hexadecimal
}

// Family says what not knowing the problem costs. The problems are several networks or, without Graphs, the second
// derivatives of Curvature. With Graphs there is no Manifest.Graph, nodes.csv and W; all numbers are of a mixture of the
// networks by Weights.
type Family struct {
	Graphs  []graph.Origin `json:"graphs,omitempty" verify:"judged in network; network"`
	Weights []float64      `json:"weights,omitempty" verify:"given in ratios; network" in:"[0,)"` // how much the squared error on each of Graphs counts
	// Ratios compare the loss for each problem alone with the least that is proven for the class, rounded up;
	// no strategy of the class has a largest ratio below Bound.
	Ratios []float64 `json:"ratios" verify:"within fine searches in ratios; network" in:"[0,)"`
	Bound  float64   `json:"bound" verify:"at most in ratios; network" in:"(0,)"`
}

// Networks returns the number of networks of which one, unknown which, will be there; 0 where there is one or none.
func (m *Manifest) Networks() int {
	if m.Family == nil {
		return 0
	}
	return len(m.Family.Graphs)
}

// Point is an iteration of the optimizer.
type Point struct {
	Loss       float64 `json:"loss"`
	LowerBound float64 `json:"lower_bound,omitempty"` // best so far; absent before there is one
}

// Gram says how the Gram matrix was computed. An estimate is random, but reproducible from the seed: lanczos has Probes of
// LanczosSteps each, sampled has Probes simulated runs. Each of the two errors holds with Confidence, 0.99, or 1 if every
// node is a probe.
type Gram struct {
	Method       string   `json:"method" verify:"given" in:"exact lanczos sampled"` // exact, lanczos or sampled
	Probes       int      `json:"probes,omitempty" verify:"exactly in estimate" in:"[0,1048576]"`
	LanczosSteps int      `json:"lanczos_steps,omitempty" verify:"given" in:"[0,65536]"`
	Seed         uint64   `json:"seed,omitempty" verify:"given"`
	Confidence   float64  `json:"confidence,omitempty" verify:"judged in estimate"`      // probability that both errors below hold
	LossError    *float64 `json:"loss_error,omitempty" verify:"within 1e-7 in estimate"` // relative error that the loss may have
	// ExcessBound is how far above the optimum for the true Gram matrix a dense strategy may be, relatively, Gap included.
	ExcessBound *float64 `json:"excess_bound,omitempty" verify:"within 1e-7 in estimate"`
}

// Strategy names the class of the strategy, and gives its parameters where it has fewer than T² of them: scaled to
// sensitivity one, so that a node can make C from them alone.
type Strategy struct {
	strategy.Parameters // its keys stand in the block

	Ratio        float64  `json:"ratio,omitempty" verify:"within fine searches in ratio; within formula in arithmetic; network" in:"[0,)"` // loss over the dense certified optimum's
	ClassBound   float64  `json:"class_bound,omitempty" verify:"at most in class bound; network" in:"[0,)"`                                // loss that no strategy with the same number of bands is below; banded only
	ClassGap     *float64 `json:"class_gap,omitempty" verify:"within formula in class gap; network"`
	MemoryFloats int      `json:"memory_floats" verify:"exactly in cost" in:"[0,)"`  // kept by a node for each model parameter
	FlopsPerStep int      `json:"flops_per_step" verify:"exactly in cost" in:"[0,)"` // done by a node for each model parameter
}

// PerNode says which node runs which of several strategies: C.npy and C_inv.npy are then arrays of layers of T×T, and
// node i (see nodes.csv) uses layer Layers[i].
type PerNode struct {
	Groups     int       `json:"groups,omitempty" verify:"judged in groups" in:"[0,)"` // how many were asked for; absent: one a node
	Distinct   int       `json:"distinct" verify:"exactly in groups" in:"[0,)"`        // strategies that differ
	Layers     []int     `json:"layers" verify:"given in groups" in:"[0,)"`
	Losses     []float64 `json:"losses" verify:"within sums in loss"`                        // squared error of each node
	GroupBound float64   `json:"group_bound" verify:"within 1e-11 in group bound" in:"[0,)"` // no strategies of these groups have a smaller loss
}

// Baseline is another strategy's cost on the same workload.
type Baseline struct {
	SensSquared  float64 `json:"sens_squared" verify:"within 1e-11 in baselines"`
	SquaredError float64 `json:"squared_error" verify:"within baseline in baselines"`
	Loss         float64 `json:"loss" verify:"within baseline in baselines; within formula in arithmetic"`
	// ErrorAtPrivacy is this strategy's error with the noise that the privacy of the manifest needs: loss/μ².
	ErrorAtPrivacy float64 `json:"error_at_privacy,omitempty" verify:"within privacy in arithmetic"`
}

// Privacy is the calibration of the noise.
type Privacy struct {
	// Mu is μ of Gaussian differential privacy, to 12 digits if from an Epsilon; absent where batches are drawn in secret: see Sampling.
	Mu        float64  `json:"mu,omitempty" in:"(0,)"`
	Sigma     float64  `json:"sigma,omitempty" in:"(0,)"` // likewise
	Epsilon   *float64 `json:"epsilon,omitempty" in:"[0,)"`
	Delta     *float64 `json:"delta,omitempty" in:"(0,1)"`
	Clip      float64  `json:"clip" in:"(0,)"`
	Adjacency string   `json:"adjacency" in:"zero-out replace-one"`
	// NoiseStd is the standard deviation of each coordinate of Z: sens·clip/mu, or sens·2·clip/mu for replace-one, rounded
	// up; where batches are drawn in secret, Sampling.NoiseMultiplier·clip.
	NoiseStd float64 `json:"noise_std" in:"(0,)"`
}
