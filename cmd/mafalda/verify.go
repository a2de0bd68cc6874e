package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
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
		Long: `Recompute everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, parameters,
sensitivity, noise level; and, where the network can be had again, squared error, loss, lower bounds and baselines.
Built-in graphs and the centralized workload are made again; for a graph or gossip matrix from a file, name that file.

A manifest that two programs could read differently (a key twice, in another case, or unknown) is refused. What cannot
be recomputed is listed as not checked: how the run went and, without the network's file, all that depends on it.

Exit codes: 0 everything checked holds, 1 something does not, 2 this is not an export.`,
		Example: `  mafalda verify out
  mafalda verify out --graph ego.edges`,
		Args: cli.ExactArgs(1, "one folder"),
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
	flags      *verifyFlags
	export     *export.Export
	schema     participation.Schema
	sketch     *workload.Sketch // of an estimated Gram matrix
	checks     []check
	notChecked []string // keys of the manifest
	notes      []string
}

func (f *verifyFlags) run(cmd *cobra.Command, dir string) error {
	v, err := f.verify(cmd.Context(), dir)
	if err != nil {
		return err
	}
	if err := v.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if failed := v.failures(); len(failed) > 0 {
		return fmt.Errorf("%s: %d of %d checks failed", dir, len(failed), len(v.checks))
	}
	return nil
}

// verify reads an export and runs the checks. The errors are a folder that is no export, the network's files, and memory.
func (f *verifyFlags) verify(ctx context.Context, dir string) (*verification, error) {
	e, err := export.Load(dir)
	if err != nil {
		return nil, cli.Usage(err)
	}
	v := &verification{flags: f, export: e}
	if !isLongExport(e) {
		steps := float64(e.Manifest.Steps)
		matrices := (25 + 2*float64(len(e.Layers))) * 8 * steps * steps
		if err := cli.CheckMemory(fmt.Sprintf("T = %v", steps), matrices); err != nil {
			return nil, err
		}
	}
	if v.schema, err = e.Manifest.Participation.Of(e.Manifest.Steps); err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", dir, err))
	}
	return v, v.all(ctx)
}

func (v *verification) add(name string, ok bool, format string, args ...any) {
	v.checks = append(v.checks, check{name, ok, fmt.Sprintf(format, args...)})
}

// failures returns the checks that do not hold.
func (v *verification) failures() []check {
	var failed []check
	for _, c := range v.checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	return failed
}

// claim is a number of the manifest, and what it should be.
type claim struct {
	key      string
	says, is float64
	within   float64 // relative
}

// compare adds a check that all claims hold. Its detail is the summary or, where some do not, what the manifest says
// and what is true instead.
func (v *verification) compare(name, summary string, claims ...claim) bool {
	var wrong []string
	for _, c := range claims {
		if !(math.Abs(c.says-c.is) <= c.within*math.Abs(c.is)) || math.IsInf(c.is, 0) {
			wrong = append(wrong, fmt.Sprintf("%s is %v; the manifest says %v", c.key, c.is, c.says))
		}
	}
	if len(wrong) > 0 {
		summary = strings.Join(wrong, "; ")
	}
	v.add(name, len(wrong) == 0, "%s", summary)
	return len(wrong) == 0
}

const (
	sameFormula = 0x1p-50 // the same operations on the same numbers
	sameMatrix  = 1e-9    // sums over the same matrices, in another order
)

// skip notes keys of the manifest that are not checked.
func (v *verification) skip(keys ...string) { v.notChecked = append(v.notChecked, keys...) }

// all runs the checks. Its error is one of the network's files, or the context's; what does not hold is a failed check.
func (v *verification) all(ctx context.Context) error {
	v.skip("version")
	v.files()
	v.participation()
	err := v.strategies(ctx)
	v.arithmetic()
	v.ending()
	v.skip("seconds", "peak_bytes")
	return err
}

// strategies checks what is exported to be run, and what it costs.
func (v *verification) strategies(ctx context.Context) error {
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
	return v.costs(ctx, c)
}

// costs checks what a strategy for all nodes costs on the network.
func (v *verification) costs(ctx context.Context, c strategy.Strategy) error {
	n, known, err := v.networkOf()
	if err != nil || !known {
		return err
	}
	if isLongExport(v.export) {
		return v.longLoss(ctx, n, c)
	}
	k, err := v.kernel(ctx, n)
	if err != nil {
		return v.computing("loss", err)
	}
	o := objectives[0]
	if name := v.export.Manifest.Objective; name != "" {
		if o, err = parseObjective(name); err != nil || o.isMean() {
			v.add("objective", false, "%q is none that a manifest can name", name)
			return nil
		}
		err = v.stepErrors(ctx, o, c, k)
	} else {
		err = v.loss(ctx, c, k.Gram())
	}
	if err != nil {
		return v.computing("loss", err)
	}
	return v.computing("baselines", v.baselines(ctx, o, k.Gram(), k))
}

// computing makes the error of a computation on the content of the export a failed check. The context's remains an
// error.
func (v *verification) computing(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	v.add(name, false, "it cannot be computed: %v", err)
	return nil
}

// isLongExport reports whether nothing of size T×T belongs to the export.
func isLongExport(e *export.Export) bool {
	m := e.Manifest
	if m.Steps <= factorize.LongSteps || e.C != nil || m.PerNode != nil {
		return false
	}
	c, err := factorize.ClassOf(m.Strategy.Class)
	return err == nil && c.Traits().Has(factorize.ManySteps) && m.Strategy.Columns == nil
}

func (v *verification) print(w io.Writer) error {
	if v.flags.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"dir": v.export.Dir, "ok": len(v.failures()) == 0, "checks": v.checks,
			"not_checked": v.notChecked, "notes": v.notes})
	}
	for _, c := range v.checks {
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAILED  %-12s %s\n", c.Name, c.Detail)
		case !v.flags.quiet:
			fmt.Fprintf(w, "ok      %-12s %s\n", c.Name, c.Detail)
		}
	}
	if v.flags.quiet {
		return nil
	}
	for _, n := range v.notes {
		fmt.Fprintf(w, "note    %s\n", n)
	}
	fmt.Fprintf(w, "not checked: %s\n", strings.Join(v.notChecked, ", "))
	return nil
}
