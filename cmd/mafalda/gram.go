package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/strategy"
	"mafalda/workload"
)

// gramFlags say how the Gram matrix is computed.
type gramFlags struct {
	method               string
	probes, lanczosSteps int
}

var gramMethods = []string{"auto", "exact", "lanczos"}

func (f *gramFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.method, "gram", "auto", "Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), or\nauto: exact unless that takes minutes")
	fl.Var((*cli.WholeNumber)(&f.probes), "probes", "random vectors of --gram lanczos, at least 4 (default 800,000 divided by the nodes,\n"+
		"a multiple of 4 from 4 to 100); all unit vectors, without chance, for as many nodes or for\n128 and fewer")
	f.lanczosSteps = 40
	fl.Var((*cli.WholeNumber)(&f.lanczosSteps), "lanczos-steps", "products with the gossip matrix for each of them")
	cli.CompleteWith(cmd, "gram", gramMethods)
}

const (
	exactOperations  = 5e10   // beyond which auto does not take the exact way: about a minute
	probedNodes      = 800000 // probes times nodes, about, by default
	mostProbes       = 100    // by default
	fewNodes         = 128    // that have all their unit vectors for probes
	estimateRounding = 1e-10  // what rounding may add to the relative error of an estimate, amply
)

// choose returns the method for a network; exactOnly says why an estimate would not do, if it would not.
func (f *gramFlags) choose(cmd *cobra.Command, n *graph.Network, steps int, seed uint64, exactOnly string, long bool) (*export.Gram, error) {
	given := cmd.Flags().Changed
	switch f.method {
	case "auto", "exact", "lanczos":
	default:
		return nil, cli.Usagef("--gram %q: must be exact, lanczos or auto", f.method)
	}
	if f.method != "lanczos" && (given("probes") || given("lanczos-steps")) && f.method == "exact" {
		return nil, cli.Usagef("--probes and --lanczos-steps are for --gram lanczos")
	}
	exact := &export.Gram{Method: "exact"}
	if n == nil {
		if f.method == "lanczos" {
			return nil, cli.Usagef("the prefix workload has no network to estimate: leave out --gram lanczos")
		}
		return exact, nil
	}
	cost := exactCost
	if long {
		cost = exactResponseCost
	}
	_, reversible := n.Gossip.Stationary()
	switch impossible := long && math.IsInf(cost(n.Gossip, steps), 1); {
	case impossible && !reversible:
		return nil, cli.Usagef("more than %d steps: only gossip matrices in detailed balance, such as those of undirected graphs",
			factorize.LongSteps)
	case impossible && f.method == "exact":
		return nil, cli.Usagef("more than %d steps: --gram exact is for at most %d nodes: use --gram lanczos",
			factorize.LongSteps, workload.MaxSpectralNodes)
	}
	if f.method == "exact" || f.method == "auto" && (exactOnly != "" || cost(n.Gossip, steps) <= exactOperations) {
		return exact, nil
	}
	if exactOnly != "" {
		return nil, cli.Usagef("--gram lanczos: %s", exactOnly)
	}
	switch {
	case given("probes") && f.probes < workload.LeastProbes:
		return nil, cli.Usagef("--probes %d: at least %d random vectors are needed", f.probes, workload.LeastProbes)
	case f.lanczosSteps < 2:
		return nil, cli.Usagef("--lanczos-steps %d: at least 2 are needed", f.lanczosSteps)
	}
	if f.probes > export.MaxProbes || f.lanczosSteps > export.MaxLanczosSteps {
		return nil, cli.Usagef("--probes %d and --lanczos-steps %d: at most %d and %d are made", f.probes, f.lanczosSteps,
			export.MaxProbes, export.MaxLanczosSteps)
	}
	if !reversible {
		if f.method == "auto" {
			return exact, nil
		}
		return nil, cli.Usagef("--gram lanczos: %v: use --gram exact", workload.ErrReversible)
	}
	f.fill(n.Graph.Nodes())
	return &export.Gram{Method: "lanczos", Probes: f.probes, LanczosSteps: f.lanczosSteps, Seed: seed,
		Confidence: confidence(f.probes, n)}, nil
}

// fill fills in the number of probes for so many nodes.
func (f *gramFlags) fill(nodes int) {
	if f.probes == 0 {
		const least = workload.LeastProbes
		f.probes = min(max(probedNodes/nodes/least*least, least), mostProbes)
	}
	if nodes <= max(f.probes, fewNodes) {
		f.probes = nodes
	}
}

// confidence returns that of the errors of an estimate from so many probes.
func confidence(probes int, n *graph.Network) float64 {
	if probes == n.Graph.Nodes() {
		return 1
	}
	return workload.Confidence
}

// exactCost is about how many operations the exact way takes.
func exactCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	if n <= 2048 && w.Symmetric() {
		return math.Pow(float64(n), 3)
	}
	return float64(n) * float64(steps) * (float64(w.Matrix().NNZ()) + float64(n)*float64(steps)/16)
}

// exactResponseCost is about how many operations the exact way takes for many steps: eigenvalues once, and a few
// errors.
func exactResponseCost(w *graph.Gossip, steps int) float64 {
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

// kernelBy computes what errors on a network (nil: of the prefix workload) depend on, and the sketch that it comes from, if any.
func kernelBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, steps int, progress func(done, total int)) (*workload.Kernel, *workload.Sketch, error) {
	var w *graph.CSR
	if n != nil {
		w = n.Gossip.Matrix()
	}
	if g == nil || g.Method == "exact" || n == nil {
		k, err := workload.NewKernel(ctx, w, steps, workload.Options{Kind: kind, Progress: progress})
		return k, nil, err
	}
	s, err := sketchBy(ctx, g, n, kind, progress)
	if err != nil {
		return nil, nil, err
	}
	return s.Kernel(steps), s, nil
}

func sketchBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, progress func(done, total int)) (*workload.Sketch, error) {
	if g.Method != "lanczos" {
		return nil, fmt.Errorf("unknown way to a Gram matrix %q", g.Method)
	}
	pi, reversible := n.Gossip.Stationary()
	if !reversible {
		return nil, workload.ErrReversible
	}
	return workload.NewSketch(ctx, n.Gossip.Matrix(), pi, workload.SketchOptions{Kind: kind, Probes: g.Probes,
		LanczosSteps: g.LanczosSteps, Seed: g.Seed,
		Independent: g.Confidence == 0, Progress: progress})
}

// checkConfidence refuses a confidence other than that of the sketch.
func checkConfidence(g *export.Gram, s *workload.Sketch) error {
	if want := s.Confidence(); g.Confidence != want {
		return fmt.Errorf("errors of %d vectors for %d nodes have a confidence of %g, not %g",
			s.Probes(), s.Nodes(), want, g.Confidence)
	}
	return nil
}

// judge fills in how far the loss of a strategy may be from what the estimate h says and, if it is the optimum for h but for the
// gap, how far above the true optimum it may be. The latter is not for strategies of other classes (optimum false): their loss
// does not change with the optimum's.
//
// Errors are taken as many times as large as the differences between probes say as the sketch's confidence needs, in
// addition to what few Lanczos steps may cost.
func judge(g *export.Gram, s *workload.Sketch, h *mat.SymDense, c strategy.Strategy, optimum bool, gap float64) error {
	if s == nil {
		return nil
	}
	if err := checkConfidence(g, s); err != nil {
		return err
	}
	p, err := factorize.NewPerturber(c, h)
	if err != nil {
		return err
	}
	var first, second float64 // mean squares of the probes' errors
	var truncated factorize.Perturbation
	pairs := float64(s.Probes() * (s.Probes() - 1))
	err = s.Deviations(c.Steps(), func(e *mat.SymDense, probe bool) error {
		by := p.By(e)
		if probe {
			first += by.First * by.First / pairs
			second += by.Second / pairs
		} else {
			truncated = by
		}
		return nil
	})
	if err != nil {
		return err
	}
	factor := s.Factor()
	loss := lossError(g, factor*math.Sqrt(first), math.Abs(truncated.First))
	g.LossError = &loss
	if !optimum {
		return nil
	}
	worst := (1+excess(g, factor*factor*second, truncated.Second, loss))*(1+gap) - 1
	g.ExcessBound = &worst
	if math.IsInf(worst, 1) {
		return errors.New("the estimate of the Gram matrix is too far off to say anything: use more --probes and --lanczos-steps")
	}
	return nil
}

// lossError adds up the errors of chance, of few Lanczos steps and of rounding, which manifests without a confidence
// left out.
func lossError(g *export.Gram, random, truncated float64) float64 {
	if g.Confidence == 0 {
		return random + truncated
	}
	return random + truncated + estimateRounding
}

// excess bounds how far above the optimum for the true H the one for the estimate is, given bounds b = tr(EĤ⁻¹EX⁻¹)/f
// for the random part E of its error and for the truncated part. √b is a norm of E, which makes the b of both
// (√b+√b')², and |a| = |tr(EX⁻¹)|/f is at most √b: one event with one probability. In manifests without a confidence
// it is 2(b+b'), and the error of the loss bounds |a|.
func excess(g *export.Gram, random, truncated, loss float64) float64 {
	root := math.Sqrt(random) + math.Sqrt(truncated)
	both, along := root*root, root
	if g.Confidence == 0 {
		both, along = 2*(random+truncated), loss
	}
	up, down := factorize.Perturbation{First: along, Second: both}, factorize.Perturbation{First: -along, Second: both}
	return math.Max(up.Excess(), down.Excess())
}

// gramText says in a line what is known of the Gram matrix.
func gramText(g *export.Gram) string {
	if g.Method == "exact" {
		return "exact"
	}
	vectors, sure := "random", fmt.Sprintf("with a probability of %g %%", 100*g.Confidence)
	if g.Confidence == 1 {
		vectors, sure = "unit", "nothing is left to chance,"
	}
	text := fmt.Sprintf("estimated from %d %s vectors, %d steps each: %s the loss is known within %s", g.Probes, vectors,
		g.LanczosSteps, sure, cli.DecimalUp(*g.LossError, 2))
	if g.ExcessBound != nil {
		text += fmt.Sprintf(", and C at most %s above the true optimum", cli.DecimalUp(*g.ExcessBound, 2))
	}
	return text
}
