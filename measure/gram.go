package measure

import (
	"cmp"
	"fmt"
	"math"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/enum"
	"mafalda/internal/fault"
	"mafalda/strategy"
	"mafalda/workload"
)

// GramMethod is a way to a Gram matrix.
type GramMethod int

const (
	// GramAuto is GramExact unless that takes minutes and an estimate would do.
	GramAuto GramMethod = iota
	// GramExact is exact but for rounding.
	GramExact
	// GramLanczos is an estimate from random vectors, with an error bound, for gossip matrices in detailed balance that
	// stay as they are.
	GramLanczos
	// GramSampled is an estimate from random runs, with an error bound, for networks that change.
	GramSampled
)

var gramMethods = enum.Of[GramMethod]("Gram method", "auto", "exact", "lanczos", "sampled")

// GramMethods returns the names that ParseGramMethod accepts.
func GramMethods() []string { return gramMethods.All() }

// String returns "auto", "exact", "lanczos" or "sampled".
func (m GramMethod) String() string { return gramMethods.Name(m) }

// ParseGramMethod returns the method of this name. The error is a fault.Argument about Method.
func ParseGramMethod(name string) (GramMethod, error) { return gramMethods.ParseField("Method", name) }

// ManyProducts is the number of Lanczos steps by default.
const ManyProducts = 40

// Gram says how the Gram matrix of a network is computed. The zero value chooses by the network. Probes and Seed are of
// GramLanczos and GramSampled, LanczosSteps of the former, or of GramAuto if it comes to that.
type Gram struct {
	Method       GramMethod
	Probes       int    // random vectors or runs; 0: see estimate and fillRuns
	LanczosSteps int    // products with the gossip matrix for each of them; 0 means ManyProducts
	Seed         uint64 // seed of the random vectors and runs
}

const (
	exactOperations = 5e10   // beyond which GramAuto does not take the exact way: about a minute
	probedNodes     = 800000 // probes times nodes, about, by default
	mostProbes      = 100    // by default
	fewNodes        = 128    // that have all their unit vectors for probes
)

// Check finds what is wrong with the numbers, whatever the network is. The errors are a fault.Argument.
func (g Gram) Check() error {
	switch {
	case g.Method < GramAuto || g.Method > GramSampled:
		return fault.New("Method", int(g.Method), "must be exact, lanczos, sampled or auto")
	case g.Method == GramExact && (g.Probes != 0 || g.LanczosSteps != 0):
		return fault.New("Probes", g.Probes, "[Probes] and [LanczosSteps] are for [Method] lanczos")
	case g.Method == GramSampled && g.LanczosSteps != 0:
		return fault.New("LanczosSteps", g.LanczosSteps, "is for [Method] lanczos")
	}
	return nil
}

// Demand is what the Gram matrix is for.
type Demand struct {
	Workload  workload.Spec
	Curvature workload.Curvature // nil: gradients do not react
	Steps     int
	ExactOnly string // why an estimate would not do, if it would not
	Long      bool   // no matrix of T×T has room: responses take the place of the Gram matrix
}

// Choose returns how the Gram matrix of a network is computed, with all numbers filled in. It fails with a
// fault.Argument where the method that was asked for is not possible.
func (g Gram) Choose(n *graph.Network, d Demand) (*export.Gram, error) {
	g.LanczosSteps = cmp.Or(g.LanczosSteps, ManyProducts)
	if d.Curvature.Varies(d.Workload) {
		return g.chooseChanging(n, d)
	}
	return g.chooseStatic(n, d)
}

// chooseStatic is Choose for networks that stay as they are.
func (g Gram) chooseStatic(n *graph.Network, d Demand) (*export.Gram, error) {
	steps, exactOnly, long := d.Steps, d.ExactOnly, d.Long
	exact := &export.Gram{Method: GramExact.String()}
	cost := ExactCost
	if long {
		cost = ExactResponseCost
	}
	operations := cost(n.Gossip, steps)
	_, reversible := n.Gossip.Stationary()
	switch impossible := long && math.IsInf(operations, 1); {
	case g.Method == GramSampled:
		return nil, fault.New("Method", nil, "[Method] sampled is for networks that change")
	case impossible && !reversible:
		return nil,
			fault.Because("Network", fmt.Errorf("more than %d steps: only gossip matrices in detailed balance, "+
				"such as those of undirected graphs", strategy.LongSteps))
	case impossible && g.Method == GramExact:
		return nil,
			fault.New("Method", nil, "more than %d steps: [Method] exact is for at most %d nodes: use [Method] lanczos",
				strategy.LongSteps, workload.MaxSpectralNodes)
	case g.Method == GramExact || g.Method == GramAuto && (exactOnly != "" || operations <= exactOperations):
		return exact, nil
	case exactOnly != "":
		return nil, fault.New("Method", g.Method, "%s", exactOnly)
	}
	if err := g.checkEstimate(); err != nil {
		return nil, err
	}
	if !reversible || !d.Curvature.Sketchable(d.Workload) {
		if g.Method == GramAuto {
			return exact, nil
		}
		return nil, fault.New("Method", g.Method, "[Method] lanczos: %v: use [Method] exact", workload.ErrReversible)
	}
	return g.estimate(n.Graph.Nodes()), nil
}

// checkEstimate refuses numbers that no estimate is made from.
func (g Gram) checkEstimate() error {
	switch {
	case g.Probes != 0 && g.Probes < workload.LeastProbes:
		return fault.New("Probes", g.Probes, "at least %d random vectors or runs are needed", workload.LeastProbes)
	case g.LanczosSteps < 2:
		return fault.New("LanczosSteps", g.LanczosSteps, "at least 2 are needed")
	case g.Probes > export.MaxProbes || g.LanczosSteps > export.MaxLanczosSteps:
		return fault.New("Probes", nil, "[Probes] %d and [LanczosSteps] %d: at most %d and %d are made", g.Probes,
			g.LanczosSteps, export.MaxProbes, export.MaxLanczosSteps)
	}
	return nil
}

// estimate fills in the number of probes for a number of nodes: 800,000 divided by them, a multiple of 4 from 4 to 100.
func (g Gram) estimate(nodes int) *export.Gram {
	e := &export.Gram{Method: GramLanczos.String(), Probes: g.Probes, LanczosSteps: g.LanczosSteps, Seed: g.Seed,
		Confidence: workload.Confidence}
	if e.Probes == 0 {
		const least = workload.LeastProbes
		e.Probes = min(max(probedNodes/nodes/least*least, least), mostProbes)
	}
	if nodes <= max(e.Probes, fewNodes) {
		e.Probes, e.Confidence = nodes, 1 // all unit vectors: nothing is left to chance
	}
	return e
}

// ExactCost is about how many operations the exact way takes.
func ExactCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	if n <= 2048 && w.Symmetric() {
		return math.Pow(float64(n), 3)
	}
	return float64(n) * float64(steps) * (float64(w.Matrix().NNZ()) + float64(n)*float64(steps)/16)
}

// ExactResponseCost is about how many operations the exact way takes for many steps: eigenvalues once, and a few
// errors. It is +Inf where there is no such way.
func ExactResponseCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	pi, _ := w.Stationary()
	switch size := float64(n); {
	case !workload.HasExactResponse(w.Matrix(), pi):
		return math.Inf(1)
	case w.Matrix().Symmetric(0):
		return size * size * size
	default:
		return 10*size*size*size + 6*size*size*float64(steps)
	}
}
