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
	Version  string        `json:"version"`
	Command  []string      `json:"command,omitempty"` // that makes the export, without the program; files are named as given
	Graph    *graph.Origin `json:"graph,omitempty"`   // nil for the prefix workload
	Workload string        `json:"workload"`
	// WorkloadSpec is the whole of it, of the kind Workload, without the matrices of networks that take turns.
	WorkloadSpec *workload.Spec `json:"workload_spec,omitempty"`
	// Curvature is how gradients react to errors, and what the squared error is of; absent: they do not.
	Curvature *workload.Spectrum `json:"curvature,omitempty"`
	// Family are problems of which nobody knows which one it is: all numbers are of a mixture of them. Absent: one problem.
	Family *Family `json:"family,omitempty"`
	// Objective is max or last; absent for mean, the sum over all steps.
	Objective string `json:"objective,omitempty"`
	// Weights are of the steps, Σ = 1: their weighted mean proves LowerBound.
	Weights       []float64     `json:"objective_weights,omitempty"`
	Steps         int           `json:"steps"`
	Gram          *Gram         `json:"gram,omitempty"`
	Participation Participation `json:"participation"`
	Trust         string        `json:"trust,omitempty"` // TrustSecLDP, with Space; absent: LDP
	Space         *Space        `json:"space,omitempty"`
	Strategy      Strategy      `json:"strategy"`
	PerNode       *PerNode      `json:"per_node,omitempty"`
	SensSquared   float64       `json:"sens_squared"` // of the strategy as exported, rounded up
	SensKind      string        `json:"sens_kind"`    // "exact" or "bound"
	SquaredError  float64       `json:"squared_error"`
	Loss          float64       `json:"loss"`
	RMSE          float64       `json:"rmse"`
	// SharedLoss is, with PerNode, the loss of the best strategy that all nodes share.
	SharedLoss float64 `json:"shared_loss,omitempty"`
	// LDPLoss is, with Space, what the same strategy class costs where every node has its own noise alone, and
	// JointLowerBound what no noise that is one covariance between nodes times one strategy over time can cost less than.
	// LowerBound and Gap are then absent.
	LDPLoss         float64 `json:"ldp_loss,omitempty"`
	JointLowerBound float64 `json:"joint_lower_bound,omitempty"`
	// LowerBound is of Loss, and absent for strategies of many steps where none is known. LowerBoundOf is OfEstimate where
	// it holds for the estimated Gram matrix of Gram, and not for the true one.
	LowerBound   float64 `json:"lower_bound,omitempty"`
	LowerBoundOf string  `json:"lower_bound_of,omitempty"`
	// Gap is the certificate: how much is left to gain at most, (Loss - LowerBound)/LowerBound, or the same of
	// ErrorAtPrivacy and Sampling.LowerBound where batches are drawn in secret. It is absent where there is no bound.
	Gap        float64             `json:"gap,omitempty"`
	Tolerance  float64             `json:"tolerance"`
	Iterations int                 `json:"iterations"`
	Status     string              `json:"status"`
	History    []Point             `json:"history,omitempty"` // of the dense optimum: after every iteration
	Baselines  map[string]Baseline `json:"baselines,omitempty"`
	// PlainStrategyLoss is the loss on this workload of the strategy that is optimal for the plain workload of this
	// kind, at equal sensitivity; absent for plain workloads.
	PlainStrategyLoss float64 `json:"plain_strategy_loss,omitempty"`
	// UncurvedStrategyLoss is likewise of the strategy that is optimal for gradients that do not react; absent without
	// Curvature.
	UncurvedStrategyLoss float64 `json:"uncurved_strategy_loss,omitempty"`

	Privacy *Privacy `json:"privacy,omitempty"`
	// Budgets are the levels of the nodes, where every node has its own; Privacy is then strict enough for all of them.
	// SquaredError, Loss and LowerBound count every node's noise by its level (LevelWeights), and OneLevelLoss is the least
	// loss at one level for all nodes, that of Privacy.
	Budgets      []NodeLevel `json:"budgets,omitempty"`
	OneLevelLoss float64     `json:"one_level_loss,omitempty"`
	OneBatchLoss float64     `json:"one_batch_loss,omitempty"` // of people in several batches: the least loss where they are in one
	// ErrorAtPrivacy is the squared error with the noise of Privacy, in units of the clip: (noise_std/clip)² times
	// squared_error. It is there for an (ε, δ) that was asked for, and comparable with all others for the same one.
	ErrorAtPrivacy float64 `json:"error_at_privacy,omitempty"`
	// CyclicErrorAtPrivacy is the error at equal privacy of the dense optimum for batches in turn, under the
	// participation that was asked for.
	CyclicErrorAtPrivacy float64   `json:"cyclic_error_at_privacy,omitempty"`
	Sampling             *Sampling `json:"sampling,omitempty"`
	// Contract says in words what a node has to do for all this to be true of it (DescribeContract).
	Contract []string `json:"contract,omitempty"`

	Seconds   float64           `json:"seconds"`
	PeakBytes int64             `json:"peak_bytes,omitempty"`
	Files     map[string]string `json:"files,omitempty"` // name to SHA-256, lower-case hexadecimal
}

// Family says what not knowing the problem costs. The problems are several networks or, without Graphs, the second
// derivatives of Curvature.
type Family struct {
	Graphs  []graph.Origin `json:"graphs,omitempty"`
	Weights []float64      `json:"weights,omitempty"` // of Graphs: how much the squared error on each counts
	// Ratios are of the loss for each problem alone to what no strategy of the class is proven to have less than, rounded up;
	// no strategy of the class has a largest ratio below Bound.
	Ratios []float64 `json:"ratios"`
	Bound  float64   `json:"bound"`
}

// Networks returns of how many networks nobody knows which one it will be; 0 where there is one or none.
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

// Gram says how the Gram matrix was computed. An estimate is random, but reproducible from the seed.
type Gram struct {
	Method       string   `json:"method"` // exact, lanczos or sampled
	Probes       int      `json:"probes,omitempty"`
	LanczosSteps int      `json:"lanczos_steps,omitempty"`
	Seed         uint64   `json:"seed,omitempty"`
	Confidence   float64  `json:"confidence,omitempty"` // of both that follow
	LossError    *float64 `json:"loss_error,omitempty"` // relative error that the loss may have
	// ExcessBound is how far above the optimum for the true Gram matrix the strategy may be, relatively.
	ExcessBound *float64 `json:"excess_bound,omitempty"`
}

// Strategy names the class of the strategy, and gives its parameters where it has fewer than T² of them: scaled to
// sensitivity one, so that a node can make C from them alone.
type Strategy struct {
	strategy.Parameters // its keys stand in the block

	Ratio        float64  `json:"ratio,omitempty"`       // loss over the dense certified optimum's
	ClassBound   float64  `json:"class_bound,omitempty"` // banded: no strategy with so many bands has a smaller loss
	ClassGap     *float64 `json:"class_gap,omitempty"`
	MemoryFloats int      `json:"memory_floats"`  // kept by a node for each model parameter
	FlopsPerStep int      `json:"flops_per_step"` // done by a node for each model parameter
}

// PerNode says which node runs which of several strategies: C.npy and C_inv.npy are then arrays of layers of T×T, and
// node i (see nodes.csv) uses layer Layers[i].
type PerNode struct {
	Groups     int       `json:"groups,omitempty"` // how many were asked for; absent: one a node
	Distinct   int       `json:"distinct"`         // strategies that differ
	Layers     []int     `json:"layers"`
	Losses     []float64 `json:"losses"`      // squared error of each node
	GroupBound float64   `json:"group_bound"` // no strategies of these groups have a smaller loss
}

// Baseline is another strategy's cost on the same workload.
type Baseline struct {
	SensSquared  float64 `json:"sens_squared"`
	SquaredError float64 `json:"squared_error"`
	Loss         float64 `json:"loss"`
	// ErrorAtPrivacy is this strategy's error with the noise that the privacy of the manifest needs: loss/μ².
	ErrorAtPrivacy float64 `json:"error_at_privacy,omitempty"`
}

// Privacy is the calibration of the noise.
type Privacy struct {
	Mu        float64  `json:"mu,omitempty"`    // absent where batches are drawn in secret: see Sampling
	Sigma     float64  `json:"sigma,omitempty"` // likewise
	Epsilon   *float64 `json:"epsilon,omitempty"`
	Delta     *float64 `json:"delta,omitempty"`
	Clip      float64  `json:"clip"`
	Adjacency string   `json:"adjacency"`
	// NoiseStd is of each coordinate of Z: sens·clip/mu, or sens·2·clip/mu for replace-one, rounded up; where batches
	// are drawn in secret, Sampling.NoiseMultiplier·clip.
	NoiseStd float64 `json:"noise_std"`
}
