package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/workload"
)

type verifyFlags struct {
	graph, gossipMatrix string
	json, quiet         bool
}

func newVerifyCmd() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check an export from its bytes alone",
		Long: `Recompute everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, sensitivity; and, where the network
can be had again, squared error, loss and lower bound. Built-in graphs and the centralized workload are made again; for a
graph or gossip matrix from a file, name that file.

Exit codes: 0 everything holds, 1 something does not, 2 this is not an export.`,
		Example: `  mafalda verify out
  mafalda verify out --graph ego.edges`,
		Args: exactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.bindNetwork(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print failures only")
	return cmd
}

// bindNetwork binds the flags that name the files of the export's network.
func (f *verifyFlags) bindNetwork(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.graph, "graph", "g", "", "the graph `file` the export was made for")
	cmd.Flags().StringVar(&f.gossipMatrix, "gossip-matrix", "", "the gossip matrix `file` the export was made for")
}

// check is one line of the verdict.
type check struct {
	Name   string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// verification runs the checks of one export.
type verification struct {
	flags  *verifyFlags
	export *export.Export
	schema participation.Schema
	sketch *workload.Sketch // of an estimated Gram matrix
	checks []check
	notes  []string
}

func (f *verifyFlags) run(cmd *cobra.Command, dir string) error {
	e, err := export.Load(dir)
	if err != nil {
		return usage(err)
	}
	v := &verification{flags: f, export: e}
	m := e.Manifest
	if err := checkMemory(fmt.Sprintf("T = %d", m.Steps), (25+2*float64(len(e.Layers)))*8*float64(m.Steps)*float64(m.Steps)); err != nil {
		return err
	}
	if v.schema, err = m.Participation.Of(m.Steps); err != nil {
		return usage(fmt.Errorf("%s: %w", dir, err))
	}
	if err := v.all(cmd.Context()); err != nil {
		return err
	}
	failed := 0
	for _, c := range v.checks {
		if !c.OK {
			failed++
		}
	}
	if err := v.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d checks failed", dir, failed, len(v.checks))
	}
	return nil
}

func (v *verification) add(name string, ok bool, format string, args ...any) {
	v.checks = append(v.checks, check{name, ok, fmt.Sprintf(format, args...)})
}

// all runs the checks. Its error is one of the network's files; what does not hold is a failed check.
func (v *verification) all(ctx context.Context) error {
	if len(v.export.Mismatch) == 0 {
		v.add("hashes", true, "%d files", len(v.export.Manifest.Files))
	}
	for _, m := range v.export.Mismatch {
		v.add("hashes", false, "%s", m)
	}
	for _, name := range v.export.Extra {
		v.notes = append(v.notes, name+" is not of the export")
	}
	if v.export.Manifest.PerNode != nil {
		return v.layers(ctx)
	}
	c, err := v.strategy()
	if err != nil {
		v.add("strategy", false, "%v", err)
		return nil
	}
	if !v.sensitivity(c) {
		return nil
	}
	v.privacy()
	if v.export.Manifest.Steps > factorize.LongSteps && v.export.Manifest.Strategy.Class != "dense" {
		return v.longLoss(ctx, c)
	}
	k, err := v.kernel(ctx)
	if err != nil || k == nil {
		return err
	}
	if name := v.export.Manifest.Objective; name != "" {
		o, err := parseObjective(name)
		if err != nil || o.isMean() {
			v.add("objective", false, "%q is none that a manifest can name", name)
			return nil
		}
		return v.stepErrors(ctx, o, c, k)
	}
	return v.loss(ctx, c, k.Gram())
}

// strategy returns the exported C: of its matrix, of its parameters, or of both if they agree.
func (v *verification) strategy() (factorize.Strategy, error) {
	m := v.export.Manifest
	made, err := m.Strategy.Build(m.Steps)
	if err != nil {
		return nil, err
	}
	if v.export.C == nil {
		v.add("strategy", true, "made from the parameters of class %s, T = %d", m.Strategy.Class, m.Steps)
		return made, nil
	}
	c, err := factorize.NewDense(v.export.C)
	if err != nil {
		return nil, err
	}
	v.add("strategy", true, "%s is lower triangular with a positive diagonal, T = %d", v.export.CFile, c.Steps())
	v.inverse()
	if made != nil {
		var lower mat.TriDense
		made.StrategyTo(&lower)
		var difference mat.Dense
		difference.Sub(&lower, v.export.C)
		worst := mat.Norm(&difference, math.Inf(1)) / mat.Norm(v.export.C, math.Inf(1))
		v.add("parameters", worst <= 1e-12, "those of class %s make the same C within %.1e", m.Strategy.Class, worst)
	}
	return c, nil
}

// inverse checks C·C⁻¹ = I and that C⁻¹ is lower triangular.
func (v *verification) inverse() {
	if err := inverseOf(v.export.C, v.export.Inverse); err != nil {
		v.add("inverse", false, "%v", err)
		return
	}
	v.add("inverse", true, "C·C⁻¹ is I, within what rounding allows")
}

func inverseOf(c, inverse *mat.Dense) error {
	steps, _ := c.Dims()
	for t := range steps {
		for s := t + 1; s < steps; s++ {
			if x := inverse.At(t, s); x != 0 {
				return fmt.Errorf("entry (%d,%d) above the diagonal is %v", t, s, x)
			}
		}
	}
	var product mat.Dense
	product.Mul(c, inverse)
	var worst float64
	for t := range steps {
		for s := range steps {
			want := 0.0
			if t == s {
				want = 1
			}
			worst = math.Max(worst, math.Abs(product.At(t, s)-want))
		}
	}
	if allowed := 1e-13 * mat.Norm(c, math.Inf(1)) * mat.Norm(inverse, math.Inf(1)); worst > allowed {
		return fmt.Errorf("C·C⁻¹ is I within %.1e only (allowed %.1e)", worst, allowed)
	}
	return nil
}

func (v *verification) sensitivity(c factorize.Strategy) bool {
	sens, err := factorize.Sensitivity(c, v.schema)
	if err != nil {
		v.add("sensitivity", false, "%v", err)
		return false
	}
	v.sensitivityIs(sens)
	return true
}

// sensitivityIs compares what was computed with the manifest.
func (v *verification) sensitivityIs(sens participation.Sensitivity) {
	m := v.export.Manifest
	v.add("sensitivity", sens.Squared <= m.SensSquared*(1+1e-12) && sens.Kind() == m.SensKind && v.schema.Name() == m.Participation.Schema,
		"sens² = %.15g (%s) for %v; the manifest says %.15g (%s), %s", sens.Squared, sens.Kind(), v.schema, m.SensSquared, m.SensKind,
		m.Participation.Schema)
}

// privacy checks the noise against the claimed guarantee.
func (v *verification) privacy() {
	p := v.export.Manifest.Privacy
	if p == nil {
		return
	}
	f := privacyFlags{mu: p.Mu, clip: p.Clip, adjacency: p.Adjacency}
	if p.Delta != nil {
		f.delta = *p.Delta
	}
	again, err := f.calibrate(math.Sqrt(v.export.Manifest.SensSquared))
	if err != nil {
		v.add("privacy", false, "%v", err)
		return
	}
	ok := p.NoiseStd >= again.NoiseStd*(1-1e-12) && math.Abs(p.Sigma*p.Mu-1) < 1e-12 && (p.Delta == nil) == (p.Epsilon == nil)
	if ok && p.Epsilon != nil {
		ok = *p.Epsilon >= *again.Epsilon*(1-1e-9)
	}
	v.add("privacy", ok, "%s needs a noise standard deviation of %.12g; the manifest says %s with %.12g", privacyLine(again), again.NoiseStd,
		privacyLine(p), p.NoiseStd)
}

// loss checks squared error and loss, and proves a lower bound anew.
func (v *verification) loss(ctx context.Context, c factorize.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	q, err := factorize.Evaluate(c, h, v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q, objectives[0])
	v.estimate(h, c)
	claimed := (m.Loss - m.LowerBound) / m.LowerBound
	relaxed := participation.Relaxation(v.schema)
	if m.Strategy.Class != "dense" || !participation.IsPartition(v.schema) { // the bound is another strategy's: compute that again
		best, err := factorize.Optimize(ctx, h, relaxed, factorize.Options{Gap: math.Max(m.Tolerance, factorize.MinGap(m.Steps))})
		if err != nil {
			v.add("lower bound", false, "%v", err)
			return nil
		}
		if best.LowerBound, best.Loss, err = v.overlapBound(ctx, c, h, best); err != nil {
			v.add("lower bound", false, "%v", err)
			return nil
		}
		v.add("lower bound", m.LowerBound <= best.Loss && same(claimed+1, m.Gap+1), "%.12g is proven, and no more than %.12g can be; the manifest says %.12g",
			best.LowerBound, best.Loss, m.LowerBound)
		return nil
	}
	bound, err := factorize.LowerBound(h, factorize.GramOf(c), relaxed)
	if err != nil {
		v.add("lower bound", false, "%v", err)
		return nil
	}
	gap := (q.Loss - bound) / bound
	v.add("lower bound", gap <= 2*m.Gap+1e-9 && same(claimed+1, m.Gap+1), "%.12g is proven, a gap of %.2g; the manifest says %.12g, a gap of %.2g",
		bound, gap, m.LowerBound, m.Gap)
	return nil
}

// overlapBound returns the largest lower bound that is proven, and what the manifest's may be at most: the same, up to the
// rounding of a search, where patterns overlap and their bound is better than that of fewer patterns, of which best is the optimum.
func (v *verification) overlapBound(ctx context.Context, c factorize.Strategy, h *mat.SymDense, best *factorize.Result) (proven, most float64, err error) {
	if participation.IsPartition(v.schema) {
		return best.LowerBound, best.Loss, nil
	}
	bound, err := factorize.OverlapBound(ctx, h, factorize.GramOf(c), v.schema)
	return math.Max(best.LowerBound, bound), math.Max(best.Loss, bound*(1+1e-4)), err
}

// estimate checks what the manifest says about an estimated Gram matrix.
func (v *verification) estimate(h *mat.SymDense, c factorize.Strategy) {
	claimed := v.export.Manifest.Gram
	if claimed == nil || v.sketch == nil {
		return
	}
	again := *claimed
	optimum := claimed.ExcessBound != nil
	if err := judge(&again, v.sketch, h, c, optimum, v.export.Manifest.Gap); err != nil {
		v.add("estimate", false, "%v", err)
		return
	}
	ok := claimed.LossError != nil && *claimed.LossError >= *again.LossError*(1-1e-3)
	if !optimum {
		v.add("estimate", ok, "of the Gram matrix: the loss within %.2g", *again.LossError)
		return
	}
	dense := v.export.Manifest.Strategy.Class == "dense" && participation.IsPartition(v.schema)
	v.add("estimate", ok && dense && *claimed.ExcessBound >= *again.ExcessBound*(1-1e-3), "of the Gram matrix: the loss within %.2g, C within %.2g of the optimum",
		*again.LossError, *again.ExcessBound)
}

// lossIs compares what was computed with the manifest.
func (v *verification) lossIs(q factorize.Quality, o objective) {
	m := v.export.Manifest
	nodes := 1
	if m.Graph != nil {
		nodes = m.Graph.Nodes
	}
	rmse := q.RMSE(nodes, o.steps(m.Steps))
	v.add("loss", same(q.Loss, m.Loss) && same(q.SquaredError, m.SquaredError) && same(rmse, m.RMSE),
		"loss %.12g, squared error %.12g, RMSE %.12g; the manifest says %.12g, %.12g, %.12g", q.Loss, q.SquaredError, rmse,
		m.Loss, m.SquaredError, m.RMSE)
}

func (v *verification) print(w io.Writer) error {
	if v.flags.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		ok := true
		for _, c := range v.checks {
			ok = ok && c.OK
		}
		return e.Encode(map[string]any{"dir": v.export.Dir, "ok": ok, "checks": v.checks, "notes": v.notes})
	}
	for _, c := range v.checks {
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAILED  %-12s %s\n", c.Name, c.Detail)
		case !v.flags.quiet:
			fmt.Fprintf(w, "ok      %-12s %s\n", c.Name, c.Detail)
		}
	}
	if !v.flags.quiet {
		for _, n := range v.notes {
			fmt.Fprintf(w, "note    %s\n", n)
		}
	}
	return nil
}
