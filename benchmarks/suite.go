package benchmarks

import (
	"strings"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/workload"
)

// Row is a cell measured: a strategy beside the optimum, or what strategies cost under a workload. Losses are
// sens(C)²·tr(C⁻ᵀHC⁻¹), which are squared errors at equal privacy. Where batches are drawn in secret there is no
// sensitivity, and no loss: what a strategy costs depends on the level of privacy.
type Row struct {
	Graph       string         `json:"graph"`
	Nodes       int            `json:"nodes,omitempty"`
	K           int            `json:"k"`
	B           int            `json:"b"`
	Strategy    string         `json:"strategy,omitempty"`
	Workload    string         `json:"workload,omitempty"`
	Spec        *workload.Spec `json:"workload_spec,omitempty"`
	SensSquared float64        `json:"sens_squared,omitempty"` // squared sensitivity of the strategy as it is defined, before scaling
	SensKind    string         `json:"sens_kind,omitempty"`    // kind of SensSquared, "exact" or "bound"
	Loss        float64        `json:"loss,omitempty"`         // loss of the strategy, or of the dense optimum for the workload
	Ratio       float64        `json:"ratio,omitempty"`        // loss over the dense certified optimum's
	LowerBound  float64        `json:"lower_bound,omitempty"`  // lower bound of the loss of any strategy

	// What a row says of a strategy alone: its cost at every level of privacy, and the most memory at any level.
	AtPrivacy    []plan.AtPrivacy `json:"at_privacy,omitempty"`
	MemoryFloats int              `json:"memory_floats"`

	// What a row says of a workload alone: the gap of its dense optimum, and the losses of strategies that know less, with how
	// far they are above the optimum's, relative: below 0 by no more than the gap. One is the dense optimum for the plain
	// workload on this network, the other one the optimum for this optimizer without a network (D-MF). That one is not there,
	// and 0, where noise of some steps costs nothing without a network: no strategy attains it.
	Gap               float64 `json:"gap,omitempty"` // relative gap between the loss and its bound, rounded up
	PlainLoss         float64 `json:"plain_strategy_loss,omitempty"`
	PlainExcess       float64 `json:"plain_strategy_excess,omitempty"`
	CentralizedLoss   float64 `json:"centralized_loss,omitempty"`
	CentralizedExcess float64 `json:"centralized_excess,omitempty"`

	Seconds float64 `json:"seconds"` // time to make the strategy, or all levels' strategies, or all of the workload
	SHA256  string  `json:"graph_sha256,omitempty"`
}

// Dense is the name of the certified optimum's row.
const Dense = "dense"

// The rows for batches that are drawn in secret, by Poisson sampling: the number of bands that is best at a level, and
// one band, which is DP-D-SGD.
const (
	SampledBest    = "bands, poisson"
	SampledDPDSGD  = baselines.DPDSGD + ", poisson"
	sampledBestGap = 1e-3 // certified, of the bands' squared error: what is found is two digits closer
)

// makers lists the strategies for a schema in the order of the table; the dense optimum, which comes first, is not
// among them.
func makers(s participation.Schema) []maker {
	steps, b := s.Steps(), s.Separation()
	return []maker{
		{name: "banded 2b", class: factorize.Banded{Bandwidth: min(2*b, steps)}},
		{name: "banded b", class: factorize.Banded{Bandwidth: b}},
		{name: "toeplitz b, scaled", class: factorize.Toeplitz{Bandwidth: b, ScaleColumns: true}},
		{name: "toeplitz b", class: factorize.Toeplitz{Bandwidth: b}},
		{name: "blt 4", class: factorize.BLT{Buffers: min(4, max(steps-1, 1))}},
		{name: "banded-inverse 4", class: factorize.BandedInverse{Bandwidth: min(4, steps)}},
		{name: baselines.DMF},
		{name: "bsr b", made: func() (strategy.Strategy, error) { return strategy.SquareRoot(steps, b) }},
		{name: "bisr 4", made: func() (strategy.Strategy, error) {
			return strategy.BandedInverseSquareRoot(steps, min(4, steps))
		}},
		{name: "sr", made: func() (strategy.Strategy, error) { return strategy.SquareRoot(steps, steps) }},
		{name: "tree", made: func() (strategy.Strategy, error) { return strategy.Tree(steps) }},
		{name: baselines.DPDSGD},
		{name: baselines.AntiPGD},
	}
}

// WorkloadSuite returns what workloads are compared on by default: built-in graphs, and a schema, T = 128.
func WorkloadSuite() (graphs []string, schemas []participation.Cyclic) {
	return []string{"florentine", "barabasi:100,3"}, suiteSchemas(KB{8, 16})
}

// Strategies returns the names of the rows of every case, in order: OfLoss, then Sampled.
func Strategies() []string { return append(OfLoss(), Sampled()...) }

// Sampled returns the names of the rows for batches that are drawn in secret.
func Sampled() []string { return []string{SampledBest, SampledDPDSGD} }

// OfLoss returns the names of the rows for batches in turn: these have a loss, and compare alike at every level.
func OfLoss() []string {
	rows := makers(participation.Cyclic{})
	return append([]string{Dense}, lists.Map(rows, func(k maker) string { return k.name })...)
}

// Spelled returns the name of a row with what it is short for.
func Spelled(name string) string {
	short, _, _ := strings.Cut(name, " ")
	switch short {
	case "sr":
		return name + " (square root)"
	case "bsr":
		return name + " (banded square root)"
	case "bisr":
		return name + " (banded inverse square root)"
	case "blt":
		return name + " (buffered linear Toeplitz)"
	}
	return name
}
