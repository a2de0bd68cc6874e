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
	fl.Var((*wholeNumber)(&f.probes), "probes", "random vectors of --gram lanczos (default 400,000 divided by the nodes, from 4 to 100)")
	f.lanczosSteps = 40
	fl.Var((*wholeNumber)(&f.lanczosSteps), "lanczos-steps", "products with the gossip matrix for each of them")
	completeWith(cmd, "gram", gramMethods)
}

const (
	exactOperations = 5e10   // beyond which auto does not take the exact way: about a minute
	probedNodes     = 400000 // probes times nodes, about, by default
	leastProbes     = 4
	mostProbes      = 100
)

// choose returns the method for a network; exactOnly says why an estimate would not do, if it would not.
func (f *gramFlags) choose(cmd *cobra.Command, n *network, steps int, seed uint64, exactOnly string, long bool) (*export.Gram, error) {
	given := cmd.Flags().Changed
	switch f.method {
	case "auto", "exact", "lanczos":
	default:
		return nil, usagef("--gram %q: must be exact, lanczos or auto", f.method)
	}
	if f.method != "lanczos" && (given("probes") || given("lanczos-steps")) && f.method == "exact" {
		return nil, usagef("--probes and --lanczos-steps are for --gram lanczos")
	}
	exact := &export.Gram{Method: "exact"}
	if n == nil {
		if f.method == "lanczos" {
			return nil, usagef("the prefix workload has no network to estimate: leave out --gram lanczos")
		}
		return exact, nil
	}
	quick := exactCost(n.gossip, steps) <= exactOperations
	if long {
		quick = n.graph.Nodes() <= 2048 && n.gossip.Symmetric()
	}
	if f.method == "exact" || f.method == "auto" && (exactOnly != "" || quick) {
		return exact, nil
	}
	if exactOnly != "" {
		return nil, usagef("--gram lanczos: %s", exactOnly)
	}
	if f.probes == 0 {
		f.probes = min(max(probedNodes/n.graph.Nodes(), leastProbes), mostProbes)
	}
	if f.probes < 2 || f.lanczosSteps < 2 {
		return nil, usagef("--probes %d and --lanczos-steps %d: at least 2 of both are needed", f.probes, f.lanczosSteps)
	}
	if f.probes > export.MaxProbes || f.lanczosSteps > export.MaxLanczosSteps {
		return nil, usagef("--probes %d and --lanczos-steps %d: at most %d and %d are made", f.probes, f.lanczosSteps,
			export.MaxProbes, export.MaxLanczosSteps)
	}
	if _, reversible := n.gossip.Stationary(); !reversible {
		if f.method == "auto" {
			return exact, nil
		}
		return nil, usagef("--gram lanczos: %v: use --gram exact", workload.ErrReversible)
	}
	return &export.Gram{Method: "lanczos", Probes: f.probes, LanczosSteps: f.lanczosSteps, Seed: seed}, nil
}

// exactCost is about how many operations the exact way takes.
func exactCost(w *graph.Gossip, steps int) float64 {
	n, _ := w.Matrix().Dims()
	if n <= 2048 && w.Symmetric() {
		return math.Pow(float64(n), 3)
	}
	return float64(n) * float64(steps) * (float64(w.Matrix().NNZ()) + float64(n)*float64(steps)/16)
}

// kernelBy computes what errors on a network (nil: of the prefix workload) depend on, and the sketch that it comes from, if any.
func kernelBy(ctx context.Context, g *export.Gram, n *network, kind workload.Kind, steps int, progress func(done, total int)) (*workload.Kernel, *workload.Sketch, error) {
	var w *graph.CSR
	if n != nil {
		w = n.gossip.Matrix()
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

func sketchBy(ctx context.Context, g *export.Gram, n *network, kind workload.Kind, progress func(done, total int)) (*workload.Sketch, error) {
	if g.Method != "lanczos" {
		return nil, fmt.Errorf("unknown way to a Gram matrix %q", g.Method)
	}
	pi, reversible := n.gossip.Stationary()
	if !reversible {
		return nil, workload.ErrReversible
	}
	return workload.NewSketch(ctx, n.gossip.Matrix(), pi, workload.SketchOptions{Kind: kind, Probes: g.Probes, LanczosSteps: g.LanczosSteps, Seed: g.Seed, Progress: progress})
}

// judge fills in how far the loss of a strategy may be from what the estimate h says and, if it is the optimum for h but for the
// gap, how far above the true optimum it may be. The latter is not for strategies of other classes (optimum false): their loss
// does not change with the optimum's.
//
// Errors are taken twice as large as the differences between probes say, in addition to the difference that the last quarter
// of the Lanczos steps makes.
func judge(g *export.Gram, s *workload.Sketch, h *mat.SymDense, c factorize.Strategy, optimum bool, gap float64) error {
	if s == nil {
		return nil
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
	loss := 2*math.Sqrt(first) + math.Abs(truncated.First)
	g.LossError = &loss
	if !optimum {
		return nil
	}
	both := 2 * (4*second + truncated.Second) // (E+F)Ĥ⁻¹(E+F) ≼ 2EĤ⁻¹E + 2FĤ⁻¹F
	worst := math.Max(factorize.Perturbation{First: loss, Second: both}.Excess(), factorize.Perturbation{First: -loss, Second: both}.Excess())
	worst = (1+worst)*(1+gap) - 1
	g.ExcessBound = &worst
	if math.IsInf(worst, 1) {
		return errors.New("the estimate of the Gram matrix is too far off to say anything: use more --probes and --lanczos-steps")
	}
	return nil
}

// gramText says in a line what is known of the Gram matrix.
func gramText(g *export.Gram) string {
	if g.Method == "exact" {
		return "exact"
	}
	text := fmt.Sprintf("estimated from %d random vectors, %d steps each: the loss is known within %s", g.Probes, g.LanczosSteps, decimalUp(*g.LossError, 2))
	if g.ExcessBound != nil {
		text += fmt.Sprintf(", and C at most %s above the true optimum", decimalUp(*g.ExcessBound, 2))
	}
	return text
}
