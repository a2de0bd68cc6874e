package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/internal/rounding"
	"mafalda/internal/version"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

type optimizeFlags struct {
	network                         cli.NetworkFlags
	workload, objective             string
	schema                          cli.SchemaFlags
	tolerance                       float64
	gram                            gramFlags
	start                           startFlags
	strategy                        strategyFlags
	split                           splitFlags
	noDense                         bool
	privacy                         cli.PrivacyFlags
	out, format                     string
	force, keepPartial, noBaselines bool
	json, quiet, verbose            bool
}

func newOptimizeCmd() *cobra.Command {
	var f optimizeFlags
	cmd := &cobra.Command{
		Use:   "optimize",
		Short: "Compute, certify and export the optimal strategy of a network",
		Long: `Compute the strategy C of least loss sens(C)²·‖LC⁻¹‖² for a network and a number of steps, with a proof of how close
to the optimum it is. A node adds row t of C⁻¹Z to its gradients at step t.

A record takes part at most k times, b steps apart (--schema says otherwise). With --T alone, k = 20 if 20 divides T.

Exit codes: 0 done, 1 not computed or not written, 2 wrong flags or input, 130 interrupted.`,
		Example: `  mafalda optimize --graph florentine --T 380 -o out
  mafalda optimize --graph ego.edges --T 380 --epsilon 8 --delta 1e-6 --clip 1 -o out
  mafalda optimize --graph erdos:100,0.1 --seed 7 --T 256 -k 4 --gossip metropolis --json
  mafalda optimize --gossip-matrix W.npy --T 64 -b 16 --tolerance 1e-8
  mafalda optimize --graph florentine --T 380 --strategy blt --buffers 4 -o out
  mafalda optimize --graph florentine --T 380 --schema min-sep -b 19 -o out
  mafalda optimize --graph ego.edges --T 380 --groups 4 -o out
  mafalda optimize --graph million.edges --T 100000 -k 100 --strategy blt -o out
  mafalda optimize --graph florentine --T 64 -k 4 --objective max
  mafalda optimize --graph ego.edges --T 4096 -k 64 --checkpoint run.ckpt --resume -o out     # goes on after a crash
  mafalda optimize --workload prefix --T 380          # centralized: no network`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.workload, "workload", "model", "whose error counts: model (after averaging), message (before), prefix (centralized)")
	bindObjective(cmd, &f.objective)
	f.schema.Bind(cmd)
	fl.Float64Var(&f.tolerance, "tolerance", 1e-6, "certified relative gap to stop at (default 1e-3 for --objective max, 1e-2 for last)")
	f.gram.bind(cmd)
	f.start.bind(cmd)
	f.strategy.bind(cmd)
	f.split.bind(cmd)
	f.privacy.Bind(cmd)
	fl.StringVarP(&f.out, "output", "o", "", "write C, C⁻¹, nodes and manifest to this `folder`")
	fl.StringVar(&f.format, "format", "npy", "of the matrices: npy, csv or both")
	fl.BoolVar(&f.noDense, "no-dense", false, "export the parameters of a structured strategy only, not its matrices (the default for T > 4096)")
	fl.BoolVar(&f.force, "force", false, "replace an earlier export")
	fl.BoolVar(&f.keepPartial, "keep-partial", false, "export the best strategy so far if interrupted or not converged")
	fl.BoolVar(&f.noBaselines, "no-baselines", false, "do not compare with DP-D-SGD, AntiPGD and D-MF")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print every iteration on stderr")
	cli.CompleteWith(cmd, "workload", workload.Kinds())
	cli.CompleteWith(cmd, "format", []string{"npy", "csv", "both"})
	return cmd
}

// job is an optimize command whose flags and input have been checked.
type job struct {
	flags     *optimizeFlags
	network   *graph.Network // nil for the prefix workload
	kind      workload.Kind
	gram      *export.Gram
	objective objective
	schema    participation.Schema
	class     factorize.Class
	stderr    io.Writer
	progress  *cli.Progress
	history   []export.Point
	started   time.Time
}

// isDense reports whether the class is that of all strategies.
func (j *job) isDense() bool { return j.class == factorize.Class(factorize.Dense{}) }

// isDense reports whether an exported strategy is of that class: its matrix is all there is of it.
func isDense(s export.Strategy) bool { return s.Class == factorize.Dense{}.Name() }

func (f *optimizeFlags) run(cmd *cobra.Command) error {
	j, err := f.prepare(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if j.isLong() {
		o, err := j.long(ctx)
		if err != nil {
			return err
		}
		return j.finish(cmd, o)
	}
	dmf := sync.OnceValues(func() (strategy.Strategy, error) { return baselines.New(ctx, baselines.DMF, j.schema) })
	if !f.noBaselines {
		go dmf() // beside all else
	}
	k, sketch, err := j.kernel(ctx)
	if err != nil {
		return err
	}
	r := &outcome{certified: j.class.Traits().Certified}
	h := k.Gram()
	objective := factorize.Mean(h)
	if j.objective.isMean() {
		r.best, err = j.optimize(ctx, h)
	} else {
		objective = j.objective.on(k)
		err = j.byObjective(ctx, k, r)
	}
	if err != nil {
		return err
	}
	if (!j.isDense() || !participation.IsPartition(j.schema)) && ctx.Err() == nil {
		j.progress.Show(0, j.class.Name()+" strategy")
		opts := factorize.Options{Gap: f.tolerance}
		if j.isDense() {
			opts.LowerBound = r.best.LowerBound
		}
		r.special, err = j.class.Optimize(ctx, objective, j.schema, opts)
		if err != nil {
			return fmt.Errorf("optimizing the %s strategy: %w", j.class.Name(), err)
		}
		if !participation.IsPartition(j.schema) {
			j.progress.Show(0, "lower bound")
			if r.bound, err = factorize.OverlapBound(ctx, h, strategy.GramOf(r.chosen()), j.schema); err != nil {
				return fmt.Errorf("bounding the loss: %w", err)
			}
		}
	}
	if f.split.wanted() && ctx.Err() == nil {
		if r.split, err = j.split(ctx, r.best.Strategy); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if !f.noBaselines && ctx.Err() == nil {
		j.progress.Show(0, "baselines")
		c, err := dmf()
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			return fmt.Errorf("optimizing the baseline d-mf: %w", err)
		default:
			baselines, err := benchmarks.Baselines(c, benchmarks.On(objective, j.schema))
			if err != nil {
				return err
			}
			r.baselines = append(r.baselines, baselines...)
		}
	}
	if sketch != nil && ctx.Err() == nil {
		j.progress.Show(0, "error of the estimate")
		if err := judge(j.gram, sketch, h, r.chosen(), r.special == nil, r.best.Gap); err != nil {
			return err
		}
	}
	j.progress.Clear()
	return j.finish(cmd, r)
}

// finish exports and prints what was computed.
func (j *job) finish(cmd *cobra.Command, r *outcome) error {
	f := j.flags
	m, err := j.manifest(r)
	if err != nil {
		return err
	}
	incomplete := j.incomplete(cmd.Context(), r)
	if f.out != "" && (incomplete == nil || f.keepPartial) {
		if err := j.export(m, r); err != nil {
			return err
		}
	}
	if err := j.print(cmd.OutOrStdout(), m); err != nil {
		return err
	}
	return incomplete
}

// prepare checks flags and input, cheapest first, before anything is computed.
func (f *optimizeFlags) prepare(cmd *cobra.Command) (*job, error) {
	j := &job{flags: f, stderr: cmd.ErrOrStderr(), started: time.Now()}
	j.progress = cli.NewProgress(j.stderr, f.quiet || f.verbose)
	var err error
	if j.schema, err = f.schema.Choose(cmd); err != nil {
		return nil, err
	}
	steps := j.schema.Steps()
	if j.kind, err = workload.ParseKind(f.workload); err != nil {
		return nil, cli.Usage(err)
	}
	if j.class, err = f.strategy.choose(cmd, j.schema); err != nil {
		return nil, err
	}
	matrices := 60 * 8 * float64(steps) * float64(steps) // about 60 of T×T
	if j.isLong() {
		matrices = 0
	}
	if err := cli.CheckMemory(fmt.Sprintf("T = %d with a %s strategy", steps, j.class.Name()), matrices); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("output") && f.out == "" {
		return nil, cli.Usagef("--output is empty: name a folder")
	}
	if f.noDense && j.isDense() {
		return nil, cli.Usagef("--no-dense leaves nothing to export of --strategy dense")
	}
	if j.objective, err = parseObjective(f.objective); err != nil {
		return nil, cli.Usage(err)
	}
	if err := j.checkObjective(); err != nil {
		return nil, err
	}
	if err := f.start.check(j); err != nil {
		return nil, err
	}
	if j.isLong() {
		if err := f.checkLong(j); err != nil {
			return nil, err
		}
	}
	if !cmd.Flags().Changed("tolerance") {
		f.tolerance = j.objective.kind.DefaultGap()
	}
	if !(f.tolerance > 0) || math.IsInf(f.tolerance, 1) {
		return nil, cli.Usagef("--tolerance %v: must be positive and finite", f.tolerance)
	}
	if least := factorize.MinGap(steps); f.tolerance < least && !j.isLong() {
		return nil, cli.Usagef("--tolerance %v: rounding allows no less than %s for T = %d", f.tolerance, cli.DecimalUp(least, 1), steps)
	}
	if f.format != "npy" && f.format != "csv" && f.format != "both" {
		return nil, cli.Usagef("--format %q: must be npy, csv or both", f.format)
	}
	if err := f.split.check(cmd, j); err != nil {
		return nil, err
	}
	if err := f.privacy.Check(cmd); err != nil {
		return nil, err
	}
	if err := f.checkOutput(); err != nil {
		return nil, err
	}
	if j.kind == workload.Prefix {
		for _, name := range []string{"graph", "gossip", "gossip-matrix", "directed", "strict", "seed"} {
			if cmd.Flags().Changed(name) {
				return nil, cli.Usagef("the prefix workload has no network: leave out --%s", name)
			}
		}
		j.gram, err = f.gram.choose(cmd, nil, steps, 0, "", j.isLong())
		return j, err
	}
	if j.network, err = f.network.Load(); err != nil {
		return nil, err
	}
	if j.gram, err = f.gram.choose(cmd, j.network, steps, f.network.Seed, f.exactOnly(j), j.isLong()); err != nil {
		return nil, err
	}
	n := float64(j.network.Graph.Nodes())
	panel := math.Max(n*float64(steps), 1e6)
	if j.gram.Method == "lanczos" {
		panel = n * float64(f.gram.lanczosSteps+6)
		kept := math.Min(float64(f.gram.lanczosSteps), n) // numbers of a probe, and their squares
		panel += float64(f.gram.probes) * (kept*kept + 4*kept + 32)
	}
	if j.isLong() {
		panel += float64(steps) * (2*float64(f.gram.lanczosSteps) + 100)
	}
	if err := cli.CheckMemory(fmt.Sprintf("T = %d on %.0f nodes", steps, n), 8*panel+matrices); err != nil {
		return nil, err
	}
	if err := f.split.checkRoom(j.network.Graph.Nodes(), steps, f.out); err != nil {
		return nil, err
	}
	j.tell()
	return j, nil
}

// exactOnly says why an estimate of the Gram matrix would not do; empty if it does.
func (f *optimizeFlags) exactOnly(j *job) string {
	switch {
	case !j.objective.isMean():
		return "its error bound is for --objective mean"
	case f.split.wanted():
		return "strategies of single nodes need the exact Gram matrices"
	}
	return ""
}

// checkOutput finds out whether the export can be written, before hours of computing.
func (f *optimizeFlags) checkOutput() error {
	if f.out == "" {
		return nil
	}
	err := export.CheckTarget(f.out, export.WriteOptions{Force: f.force})
	if errors.Is(err, files.ErrExists) || errors.Is(err, export.ErrTarget) {
		return cli.Usage(err)
	}
	return err
}

// tell prints what is to be known of the network before the work.
func (j *job) tell() {
	if j.flags.quiet {
		return
	}
	for _, n := range j.network.Notes {
		fmt.Fprintln(j.stderr, n)
	}
}

// optimize returns the optimum under the schema, or, where patterns overlap, under its relaxation, whose bound holds for
// the schema, too.
func (j *job) optimize(ctx context.Context, h *mat.SymDense) (*factorize.Result, error) {
	start, err := j.start()
	if err != nil {
		return nil, err
	}
	checkpoints := j.checkpoints()
	defer checkpoints.end()
	result, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), participation.Relaxation(j.schema), factorize.Options{Gap: j.flags.tolerance, Start: start,
		Progress: func(it factorize.Iteration) {
			j.iteration(it)
			checkpoints.keep(it)
		}})
	j.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("optimizing: %w", err)
	}
	return result, nil
}

// iteration shows, and keeps, how far an optimizer is.
func (j *job) iteration(it factorize.Iteration) {
	j.history = append(j.history, export.Point{Loss: it.Loss, LowerBound: it.LowerBound})
	if j.flags.verbose {
		fmt.Fprintf(j.stderr, "iteration %3d  loss %s  bound %s  gap %s\n", it.Count, cli.DecimalUp(it.Loss, 10), cli.DecimalDown(it.LowerBound, 10), cli.DecimalUp(it.Gap, 3))
	}
	j.progress.Show(cli.GapFraction(it.Gap, j.flags.tolerance), fmt.Sprintf("iteration %d, loss %s, gap %s", it.Count, cli.DecimalUp(it.Loss, 6), cli.DecimalUp(it.Gap, 2)))
}

// incomplete returns the error of a run that did not reach its tolerance, or nil.
func (j *job) incomplete(ctx context.Context, o *outcome) error {
	if o.best == nil {
		return nil
	}
	r := o.unfinished()
	hint := ""
	if j.flags.out != "" && !j.flags.keepPartial {
		hint = "; nothing exported (use --keep-partial to export the best strategy so far)"
	}
	switch {
	case r.Status == optim.Interrupted || ctx.Err() != nil:
		return fmt.Errorf("%w after %d iterations with a gap of %s%s", cli.ErrInterrupted, r.Iterations, cli.DecimalUp(r.Gap, 2), hint)
	case r.Status != optim.Converged:
		return fmt.Errorf("%v after %d iterations with a gap of %s, above the tolerance %g%s", r.Status, r.Iterations, cli.DecimalUp(r.Gap, 2),
			j.flags.tolerance, hint)
	}
	return nil
}

// manifest collects everything there is to say about the result: a special strategy or a split, if there is one, against
// the shared dense optimum.
func (j *job) manifest(o *outcome) (*export.Manifest, error) {
	nodes := 1
	r := o.best
	if r == nil { // there is none for so many steps
		r = &factorize.Result{Status: optim.Converged}
	}
	q, iterations, bound := r.Quality, r.Iterations, math.Max(r.LowerBound, o.bound)
	strategy := export.Describe(o.chosen())
	if special := o.special; special != nil {
		q, iterations = special.Quality, special.Iterations
		if participation.IsPartition(j.schema) && r.Loss > 0 {
			strategy.Ratio = q.Loss / r.Loss
		}
		if b := math.Max(special.ClassBound, bound); special.ClassBound > 0 {
			gap := (q.Loss - b) / b
			strategy.ClassBound, strategy.ClassGap = b, &gap
		}
	}
	if split := o.split; split != nil && split.LowerBound > 0 {
		q, iterations, bound = split.Quality, split.Iterations, split.LowerBound
		strategy.Ratio = q.Loss / r.Loss
	}
	m := &export.Manifest{Version: version.String(), Workload: j.kind.String(), Steps: j.schema.Steps(),
		Participation: j.flags.schema.Describe(j.schema), Gram: j.gram,
		Strategy: strategy, SensSquared: q.Sensitivity.Squared, SensKind: q.Sensitivity.Kind(),
		SquaredError: q.SquaredError, Loss: q.Loss, LowerBound: bound,
		Tolerance: j.flags.tolerance, Iterations: iterations, Status: r.Status.String(), History: j.history}
	if bound > 0 {
		m.Gap = rounding.DivUp(q.Loss-bound, bound)
	}
	if j.network != nil {
		m.Graph = &j.network.Origin
		nodes = j.network.Graph.Nodes()
	}
	if o.split != nil && o.split.LowerBound > 0 {
		m.PerNode, m.SharedLoss = j.flags.split.describe(o.split), r.Loss
	}
	if !j.objective.isMean() {
		m.Objective, m.Weights = j.objective.kind.String(), r.Weights
	}
	m.RMSE = q.RMSE(nodes, j.objective.steps(j.schema.Steps()))
	for _, b := range o.baselines {
		if m.Baselines == nil {
			m.Baselines = map[string]export.Baseline{}
		}
		m.Baselines[b.Name] = export.Baseline{SensSquared: b.Sensitivity.Squared, SquaredError: b.SquaredError, Loss: b.Loss}
	}
	var err error
	if m.Privacy, err = j.flags.privacy.Calibrate(rounding.SqrtUp(q.Sensitivity.Squared)); err != nil {
		return nil, cli.Usage(err)
	}
	m.Seconds = time.Since(j.started).Seconds()
	m.PeakBytes = limits.PeakBytes()
	return m, nil
}

// maxDense is the number of steps up to which structured strategies are written as matrices, too.
const maxDense = 4096

func (j *job) export(m *export.Manifest, o *outcome) error {
	var files []export.File
	s := o.chosen()
	if m.PerNode != nil {
		files = j.flags.split.files(o.split)
	} else if j.isDense() || (!j.flags.noDense && m.Steps <= maxDense) {
		var c, inverse mat.TriDense
		s.StrategyTo(&c)
		if err := s.NoisingTo(&inverse); err != nil {
			return fmt.Errorf("inverting the strategy: %w", err)
		}
		if j.flags.format != "csv" {
			files = append(files, export.NPY("C.npy", &c), export.NPY("C_inv.npy", &inverse))
		}
		if j.flags.format != "npy" {
			files = append(files, export.CSV("C.csv", &c), export.CSV("C_inv.csv", &inverse))
		}
	}
	if j.network != nil {
		files = append(files, export.File{Name: "nodes.csv", Write: func(w io.Writer) error { return graph.WriteNodes(w, j.network.Graph) }})
	}
	return export.WriteDir(j.flags.out, m, files, export.WriteOptions{Force: j.flags.force})
}

func (j *job) print(w io.Writer, m *export.Manifest) error {
	switch {
	case j.flags.json:
		return m.WriteJSON(w)
	case j.flags.quiet:
		return nil
	}
	return j.report(w, m)
}
