package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/text"
	"mafalda/plan"
)

// optimizeFlags fill a plan.Problem, the plan.Options for it, and the export.WriteOptions of its solution.
type optimizeFlags struct {
	runner      *grids.Runner
	network     flags.NetworkFlags
	workload    flags.WorkloadFlags
	curvature   flags.CurvatureFlags
	objective   plan.Objective
	schema      flags.SchemaFlags
	gram        plan.Gram
	class       classFlags
	budget      flags.BudgetFlags
	trust       trustFlags
	budgets     levelFlags
	options     plan.Options // what other flags than these bind directly
	privacy     flags.PrivacyFlags
	write       export.WriteOptions
	keepPartial bool
	verbose     bool
	terminal.Output
	shard grids.ShardFlags
}

// problem returns what the flags ask for, but for the network.
func (f *optimizeFlags) problem(cmd *cobra.Command) (plan.Problem, plan.Options, error) {
	p, o := plan.Problem{Objective: f.objective, Gram: f.gram}, f.options
	p.Gram.Seed = f.network.Seed
	o.Partial, f.write.Force = f.keepPartial, f.Force
	err := fault.First(
		func() (err error) { p.Schema, err = f.schema.Choose(cmd); return err },
		func() (err error) { p.Workload, err = f.workload.Spec(cmd); return err },
		func() (err error) { p.Curvature, err = f.curvature.Choose(cmd); return err },
		func() (err error) {
			o.Class, err = f.class.choose(cmd, plan.DefaultClass(o.Sampling, p.Schema))
			return err
		},
		func() (err error) {
			if o.Budget, err = f.budget.Choose(cmd); o.Budget != nil && !f.class.given(cmd) {
				o.Class = nil // it is what fits
			}
			return err
		},
		func() (err error) { o.Privacy, err = f.privacy.Choose(cmd); return err },
		func() (err error) { p.Levels, err = f.budgets.choose(cmd, &f.privacy, &o); return err },
		func() (err error) { p.Sharing, err = f.trust.choose(cmd); return err })
	if err != nil {
		return p, o, err
	}
	p.SchemaFile = f.schema.File()
	o.MonteCarlo.Seed = f.network.Seed
	if cmd.Flags().Changed("output") && f.Dir == "" {
		return p, o, terminal.Usagef("--output is empty: name a folder")
	}
	return p, o, nil
}

// classFlags say which class of strategies to optimize over.
type classFlags struct {
	class      string
	parameters factorize.Parameters
}

// given reports whether a flag says anything of the class.
func (f *classFlags) given(cmd *cobra.Command) bool {
	return terminal.Given(cmd, "strategy") || slices.ContainsFunc([]string{"bandwidth", "buffers", "scale-columns"}, func(part string) bool {
		return cmd.Flags().Changed("strategy " + part)
	})
}

// choose returns the class, c unless a flag names one, with its parameters, after refusing those that it does not have.
func (f *classFlags) choose(cmd *cobra.Command, c factorize.Class) (factorize.Class, error) {
	if terminal.Given(cmd, "strategy") {
		var err error
		if c, err = factorize.ClassOf(f.class); err != nil {
			return nil, terminal.Usage(err)
		}
	}
	c, err := c.With(f.parameters)
	if err != nil {
		return nil, terminal.Usagef("--strategy: %w", err)
	}
	return c, nil
}

// networkFiles returns the flags by which verify and plot are told of the files of the network.
func (f *optimizeFlags) networkFiles(p plan.Problem) string {
	var flags []string
	for i, n := range append([]*graph.Network{p.Network}, p.Others...) {
		if n != nil && n.Origin.SHA256 != "" {
			flags = append(flags, " --graph "+text.Quote(strings.TrimPrefix(f.network.Sources[i], "directed:")))
		}
	}
	if n := p.Network; n != nil && n.Origin.GossipFile != "" {
		flags = append(flags, " --gossip "+text.Quote(f.network.GossipFile()))
	}
	if f.network.GraphSequence != "" {
		flags = append(flags, " --graph-changes "+text.Quote("sequence:"+f.network.GraphSequence))
	}
	return strings.Join(flags, "")
}
