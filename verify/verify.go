package verify

import (
	"context"
	"errors"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Verify recomputes everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, parameters,
// sensitivity, noise level; and, on the network that it is for, squared error, loss, lower bounds and baselines. What
// cannot be recomputed is listed as not checked: how the run went and, without the network, all that depends on it.
//
// The network is compared with what the manifest says of it. Without one (nil), a built-in graph is made again; the
// files of one that came from files are named in Report.Missing (see NetworkOptions). Of several networks, unknown which
// it will be, there is one for each of Family.Graphs, nil where it is made again.
//
// A claim that does not hold is a failed check, not an error. It fails, without a report, when ctx ends, for exports
// that cannot be judged (a network that cannot be made, not enough memory: limits.ErrMemory), and with ErrNoNetwork if
// a network is given for the prefix workload, which has none.
func Verify(ctx context.Context, e *export.Export, networks ...*graph.Network) (Report, error) {
	return VerifyWatched(ctx, e, networks, func(Check) {})
}

// VerifyWatched is Verify; watch sees every check when it is made.
func VerifyWatched(ctx context.Context, e *export.Export, networks []*graph.Network, watch func(Check)) (Report, error) {
	if !isLongExport(e) {
		steps := float64(e.Manifest.Steps)
		matrices := (25 + 2*float64(len(e.Layers))) * 8 * steps * steps
		if err := limits.Fits(fmt.Sprintf("T = %v", steps), matrices); err != nil {
			return Report{}, err
		}
	}
	v, err := newVerification(e, networks...)
	if err != nil {
		return Report{}, err
	}
	v.watch = watch
	v.files()
	v.participation()
	v.contract()
	v.gossip()
	err = v.strategies(ctx)
	v.arithmetic()
	v.ending()
	v.listNotChecked()
	v.everyKey()
	if err == nil {
		err = ctx.Err() // searches that were stopped return what they have
	}
	if err != nil {
		return Report{}, err
	}
	return v.Report, nil
}

// verification runs the checks of one export.
type verification struct {
	Report
	export    *export.Export
	given     *graph.Network       // the network given; nil: it is made again, if it can be
	members   []*graph.Network     // likewise, those of an export for several networks, unknown which
	others    []*graph.Network     // all of them that are known, but the first
	schema    participation.Schema // the schema that the sensitivity is for
	asked     participation.Schema // the schema that was asked for: another one under Poisson sampling
	spec      workload.Spec        // the workload, with the networks that take turns, if they are at hand
	estimated workload.Estimate    // what an estimated Gram matrix comes from
	exported  []*graph.CSR         // gossip matrices of the export, if they are to be compared
	again     export.Manifest      // computed again, as far as it is
	reached   map[string]float64   // the gap that a search for the optimum under a key ended at
}

func newVerification(e *export.Export, networks ...*graph.Network) (*verification, error) {
	asked, err := e.Manifest.Participation.Of(e.Manifest.Steps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	schema, err := e.Manifest.Schema()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	members := make([]*graph.Network, max(e.Manifest.Networks(), 1))
	if copy(members, networks) < len(networks) {
		return nil, fmt.Errorf("%s: %d networks are given, and it is for %d", e.Dir, len(networks), len(members))
	}
	return &verification{export: e, given: members[0], members: members, schema: schema, asked: asked, spec: *e.Manifest.WorkloadSpec,
		reached: map[string]float64{}}, nil
}

// strategies checks what is exported to be run, and what it costs.
func (v *verification) strategies(ctx context.Context) error {
	all, err := v.read()
	if err != nil {
		return v.computing("strategy", err)
	}
	var worst participation.Sensitivity
	for _, c := range all {
		sens, err := strategy.Sensitivity(c, v.schema)
		if err != nil {
			return v.computing("sensitivity", err)
		}
		if sens.Squared > worst.Squared {
			worst = sens
		}
	}
	v.sensitivityIs(worst)
	if err := v.computing("space", v.space(ctx)); err != nil {
		return err
	}
	v.privacy()
	err = v.sampling(ctx, all[0])
	if err != nil || v.export.Manifest.PerNode != nil && !v.grouping() || v.isSettled() {
		return err
	}
	n, known, err := v.network(ctx)
	if err != nil || !known {
		return err
	}
	if err := v.checkSketch(n); err != nil {
		return err
	}
	return v.computing("loss", (&costs{verification: v, n: n, all: all, c: all[0]}).check(ctx))
}

// quickSteps is up to how many steps all checks are made, whatever has failed before.
const quickSteps = 1024

// isSettled reports whether an export is refused already, where what is left takes minutes. All that depends on the
// network is then not checked.
func (v *verification) isSettled() bool {
	settled := !v.OK() && v.export.Manifest.Steps > quickSteps && !isLongExport(v.export)
	if settled {
		v.skipNetwork()
	}
	return settled
}

// computing makes the error of a computation on the content of the export a failed check, of this name unless the error
// has one. The context's remains an error.
func (v *verification) computing(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if wrong, is := errors.AsType[*FailedError](err); is {
		v.add(wrong.Check.Name, false, "%s", wrong.Check.Detail)
	} else {
		v.add(name, false, "%v", err)
	}
	return nil
}

// isLongExport reports whether nothing of size T×T belongs to the export.
func isLongExport(e *export.Export) bool {
	m := e.Manifest
	if m.Steps <= strategy.LongSteps || e.C != nil || m.PerNode != nil {
		return false
	}
	c, err := measure.ClassOf(m)
	if err != nil {
		return false
	}
	_, comb := c.(factorize.Comb)
	return c.Traits().Has(factorize.ManySteps) && (comb || m.Strategy.Columns == nil)
}

// isDense reports whether the strategy is of the class of all.
func isDense(s export.Strategy) bool { return s.Class == factorize.Dense{}.Name() }

// Report is what Verify finds.
type Report struct {
	Checks     []Check  `json:"checks"`
	NotChecked []string `json:"not_checked"` // keys of the manifest

	// Missing names the files that the network came from, where Verify had no network: then all that depends on it is
	// in NotChecked.
	Missing NetworkFiles `json:"-"`

	watch func(Check) // sees every check when it is made
}

// Check is a line of a Report.
type Check struct {
	Name   string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what holds; or what the manifest says, and what is true instead
}

// OK reports whether all checks hold.
func (r *Report) OK() bool { return len(r.Failures()) == 0 }

// Failures returns the checks that do not hold.
func (r *Report) Failures() []Check {
	var failed []Check
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	return failed
}

// FailedError is a check that does not hold, where nothing can be done without it.
type FailedError struct{ Check Check }

func (e *FailedError) Error() string { return e.Check.Name + ": " + e.Check.Detail }

// failed returns a FailedError.
func failed(name, format string, args ...any) error {
	return &FailedError{Check{Name: name, Detail: fmt.Sprintf(format, args...)}}
}

// add notes a check. Errors among the arguments name what they are about by its key in the manifest.
func (r *Report) add(name string, ok bool, format string, args ...any) {
	for i, a := range args {
		if err, is := a.(error); is {
			args[i] = fault.Keyed(err)
		}
	}
	c := Check{name, ok, fmt.Sprintf(format, args...)}
	r.Checks = append(r.Checks, c)
	if r.watch != nil {
		r.watch(c)
	}
}

// skip notes keys of the manifest that are not checked.
func (r *Report) skip(keys ...string) { r.NotChecked = append(r.NotChecked, keys...) }

// textUp and down print a number with twelve digits, rounded to the side on which it claims no more than was computed.
func textUp(v float64) string   { return rounding.UpText(v, 12) }
func textDown(v float64) string { return rounding.DownText(v, 12) }
