package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/enum"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat"
	"mafalda/threat/sampled"
)

// sampledAudit is what is audited.
type sampledAudit struct {
	sampled.Scenario
	claimed participation.Sampling
	noising mat.Matrix // C⁻¹ as the nodes load it, nil if it follows from the parameters
}

// chooseSampled returns what the flags, and the export where they say nothing, tell of the mechanism.
func (f *auditFlags) chooseSampled(cmd *cobra.Command) (sampledAudit, error) {
	var a sampledAudit
	d := sampledDefaults{sampledFlags: f.sampled, separation: f.schema.Separation, given: cmd.Flags().Changed}
	var err error
	switch folder, steps := f.threat.Exported, f.schema.Steps; {
	case folder != "":
		if err := d.load(cmd.Context(), folder, &a); err != nil {
			return a, err
		}
	case !d.given("T"):
		return a, terminal.Usagef("how many steps? Use --T, for example --T 380, or --export DIR")
	case steps < 1 || steps > sampled.MaxSteps:
		return a, terminal.Usagef("--T %d: must be from 1 to %d", steps, sampled.MaxSteps)
	default: // DP-D-SGD
		a.Strategy = strategy.Identity(steps)
	}
	if steps := a.Strategy.Steps(); d.given("T") && f.schema.Steps != steps {
		return a, terminal.Usagef("--T %d: the strategy is for T = %d; leave out --T", f.schema.Steps, steps)
	}
	if !d.given("groups") && d.groups == 0 {
		d.groups = bandsOf(a.Strategy)
	}
	if a.claimed, err = d.named("sampling", d.sampling, a.Strategy.Steps()); err != nil {
		return a, err
	}
	a.Actual = a.claimed
	if d.given("actual") {
		if a.Actual, err = d.named("actual", d.actual, a.Strategy.Steps()); err != nil {
			return a, err
		}
	}
	independent := sampling.Names(func(t sampling.Traits) bool { return t.Independent })
	banded := append(sampling.Names(func(t sampling.Traits) bool { return t.Banded }), "shuffle")
	if err := cmp.Or(d.only("probability", independent), d.only("groups", banded)); err != nil {
		return a, err
	}
	return a, d.claim(cmd.Context(), &a)
}

// only rejects a part of --sampling that neither scheme takes, unless it stands for -b.
func (d *sampledDefaults) only(part string, schemes []string) error {
	takes := func(scheme string) bool { return scheme == d.sampling || scheme == d.actual }
	if d.given("sampling "+part) && d.separation > 0 && !slices.ContainsFunc(schemes, takes) {
		return terminal.Usagef("--sampling %s is for %s; of %s, -b says how many batches there are", part, enum.List(schemes), d.sampling)
	}
	return nil
}

// sampledDefaults are the flags, filled with what an export says.
type sampledDefaults struct {
	sampledFlags
	separation int
	given      func(flag string) bool
	said       float64 // epsilon of the export, if its numbers are the claim's; or 0
	manifest   *export.Manifest
}

// load reads the export.
func (d *sampledDefaults) load(ctx context.Context, folder string, a *sampledAudit) error {
	e, err := export.LoadUntil(ctx, folder)
	if err != nil {
		return terminal.Usage(err)
	}
	if err := e.CheckHashes(); err != nil {
		return terminal.Usage(err)
	}
	if err := threat.Withstands(ctx, e); err != nil { // then what coalitions leave is noise of variance 1
		return terminal.Usage(fmt.Errorf("%s: %w", folder, err))
	}
	if e.Manifest.Budgets != nil {
		return terminal.Usage(fmt.Errorf("%s: %w", folder, export.ErrLevels))
	}
	if e.Manifest.PerNode != nil {
		return terminal.Usagef("--export %s: its nodes have strategies of their own, which --sampling does not audit", folder)
	}
	if a.Strategy, err = e.SharedStrategy(); err != nil {
		return terminal.Usage(err)
	}
	if e.Inverse != nil {
		var lower mat.TriDense
		a.Strategy.StrategyTo(&lower)
		if err := strategy.CheckInverse(&lower, e.Inverse); err != nil {
			return terminal.Usage(fmt.Errorf("%s: %w", folder, err))
		}
		a.noising = e.Inverse
	}
	if !d.given("separation") {
		d.separation = e.Manifest.Participation.B
	}
	if p := e.Manifest.Privacy; p != nil && !d.given("adjacency") {
		d.adjacency = p.Adjacency
	}
	s := e.Manifest.Sampling
	if e.Manifest.Sampled() && s.Scheme != d.sampling {
		return terminal.Usagef("--sampling %s: %s is for --sampling %s", d.sampling, folder, s.Scheme)
	}
	if s == nil || s.Scheme != d.sampling || !e.Manifest.Sampled() {
		return nil
	}
	if err := e.Manifest.CheckPrivacy(); err != nil { // an attack may be too weak to find that
		return terminal.Usage(fmt.Errorf("%s: %w", folder, err))
	}
	d.said, d.manifest = *s.Epsilon, e.Manifest
	if d.adjacency != e.Manifest.Privacy.Adjacency {
		d.said = 0
	}
	take(d, "sampling probability", &d.probability, s.Probability)
	take(d, "noise-multiplier", &d.noiseMultiplier, s.NoiseMultiplier)
	take(d, "delta", &d.delta, s.Delta)
	take(d, "sampling groups", &d.groups, s.Groups)
	take(d, "sampling records", &d.largest.Records, s.Records)
	take(d, "sampling max", &d.largest.Most, s.MaxBatch)
	if s.Scheme == export.SchemeBins && d.separation != s.Groups {
		d.said = 0
	}
	return nil
}

// take takes what the export says where a flag does not. With the flag, the export's epsilon is not the claim's.
func take[V any](d *sampledDefaults, flag string, to *V, said V) {
	if d.given(flag) {
		d.said = 0
	} else {
		*to = said
	}
}

// named returns what a flag names.
func (d *sampledDefaults) named(flag, name string, steps int) (participation.Sampling, error) {
	switch {
	case name != "permutation" && name != "shuffle":
	case flag == "sampling":
		return nil, terminal.Usagef("--sampling %s: for a permutation that is cut into batches no more is proved than "+
			"for batches that are known: --sampling cyclic", name)
	default:
		of, err := d.named(flag, map[string]string{"permutation": "bins", "shuffle": "allocation"}[name], steps)
		return sampled.Permutation{Sampling: of}, err
	}
	of, err := participation.ParseScheme(name)
	if err != nil {
		return nil, err
	}
	by := sampling.Scheme{Of: of, Batches: d.largest}
	if by.Kind().Traits().Independent && of != participation.InTurn {
		return d.independent(flag, sampling.Numbers{Scheme: by, Groups: d.groups, Probability: d.probability})
	}
	b, err := d.batches(flag+" "+name, steps)
	if err != nil {
		return nil, err
	}
	if of == participation.InTurn {
		return participation.CyclicSampling{Batches: b}, nil
	}
	schema, err := participation.NewCyclic(steps, (steps-1)/b+1, b)
	if err != nil {
		return nil, err
	}
	return by.For(schema, d.groups).Sampling(), by.Kind().Check(schema)
}

// independent returns what draws records independently, with a probability that was given, or that -b says.
func (d *sampledDefaults) independent(flag string, n sampling.Numbers) (participation.Sampling, error) {
	if n.Kind().Traits().Largest && (n.Batches.Records == 0 || n.Batches.Most == 0) {
		return nil, terminal.Usagef("--%s %v: how large may batches be, of how many records? Use --sampling max and records", flag, n.Of)
	}
	if !d.given("sampling probability") && n.Probability == 0 {
		if d.separation <= 0 {
			return nil, terminal.Usagef("--%s %v: how likely does a record take part? Use --sampling probability, or -b", flag, n.Of)
		}
		n.Probability = float64(n.Groups) / float64(d.separation)
	}
	return n.Sampling(), nil
}

// batches returns -b, or how many batches have as many records as a step of the Poisson sampling expects.
func (d *sampledDefaults) batches(flag string, steps int) (int, error) {
	b := d.separation
	if b == 0 && !d.given("separation") && d.probability > 0 {
		exact := float64(d.groups) / d.probability
		if b = int(math.Round(exact)); math.Abs(exact-float64(b)) > 1e-6*exact {
			b = 0
		}
	}
	switch {
	case b == 0 && !d.given("separation"):
		return 0, terminal.Usagef("--%s: how many batches are there? Use -b", flag)
	case b < 1 || b > steps:
		return 0, terminal.Usagef("--separation %d: there must be from 1 to T = %d batches", b, steps)
	}
	return b, nil
}

// claim completes what is attacked: an epsilon that was given, or the accountant's, and what an export says.
func (d *sampledDefaults) claim(ctx context.Context, a *sampledAudit) (err error) {
	a.NoiseMultiplier = d.noiseMultiplier
	adjacency, err := accounting.ParseAdjacency(d.adjacency)
	if err != nil {
		return terminal.Usagef("--adjacency: %w", err)
	}
	switch {
	case !d.given("noise-multiplier") && d.noiseMultiplier == 0:
		return terminal.Usagef("how much noise is there? Use --noise-multiplier, the standard deviation over the clip")
	case !d.given("delta") && d.delta == 0:
		return terminal.Usagef("at which delta? Use --delta, for example --delta 1e-6")
	case d.given("epsilon"):
		a.Claim = sampled.Claim{Epsilon: d.epsilon, Delta: d.delta, Adjacency: adjacency}
		return nil
	}
	a.Claim, err = sampled.ClaimOf(ctx, adjacency, a.Strategy, a.claimed, d.noiseMultiplier, d.delta)
	if errors.Is(err, bins.ErrDomination) {
		return terminal.Usage(fmt.Errorf("%w; --epsilon attacks a claim without a proof", err))
	}
	if d.said > 0 {
		a.Claim.Epsilon = d.said
	}
	if err == nil && d.said > 0 && d.manifest.Binned() {
		var lower mat.TriDense
		a.Strategy.StrategyTo(&lower)
		if err = d.manifest.ConfirmBins(ctx, &lower); ctx.Err() == nil {
			err = terminal.Usage(err)
		}
	}
	return err
}

// bandsOf returns how many bands C has, T for one of another class than those that say it.
func bandsOf(c strategy.Strategy) int {
	if p := c.Parameters(); p.Class == strategy.BandedClass || p.Class == strategy.ToeplitzClass {
		return p.Bandwidth
	}
	return c.Steps()
}
