package commands

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/study"
	"mafalda/threat"
	"mafalda/workload"
)

type adviseFlags struct {
	network  flags.NetworkFlags
	workload flags.WorkloadFlags
	loss     flags.LossFlags
	schema   flags.SchemaFlags
	gram     plan.Gram
	trust    trustFlags
	sampling string
	privacy  flags.PrivacyFlags
	budgets  levelFlags
	budget   flags.BudgetFlags
	limit    time.Duration
	front    bool
	outcomeFlags
}

// Names of results in a folder, with several endings.
const (
	adviceName = "advice"
	frontName  = "memory"
	ratesName  = "rates"
)

// samplingSecret stands for all ways to draw in secret that take seconds.
const samplingSecret = "secret"

// ownFlags are the flags of advise that optimize does without, or has for something else.
func (f *adviseFlags) ownFlags() []string {
	return []string{"trust", "sampling", "memory", "limit", "output", "force",
		"json", "quiet", "curvature", "distance", "learning-rate", "records", "task"}
}

// chooseCase returns what the flags say, but for the network.
func (f *adviseFlags) chooseCase(cmd *cobra.Command) (c plan.Case, err error) {
	p, o := &c.Problem, &c.Options
	c.Limit, p.Gram = f.limit, f.gram
	p.Gram.Seed = f.network.Seed
	err = fault.First(
		func() (err error) { p.Schema, err = f.schema.Choose(cmd); return err },
		func() (err error) { p.Workload, err = f.workload.Spec(cmd); return err },
		func() (err error) { o.Privacy, err = f.privacy.Choose(cmd); return err },
		func() (err error) { p.Levels, err = f.budgets.choose(cmd, &f.privacy, o); return err },
		func() (err error) {
			if cmd.Flags().Changed("memory") {
				o.Budget, err = f.budget.ChooseAny(cmd)
			}
			return err
		},
		func() (err error) { c.Training, c.Records, err = f.loss.Choose(cmd); return err },
		func() error { return f.chooseTrust(cmd, &c) },
		func() error { return f.chooseSampling(cmd, &c) },
		func() error { return plan.CheckCase(c) },
		func() error {
			if !f.front {
				return nil
			}
			return plan.CheckMemoryFront(c)
		})
	p.SchemaFile = f.schema.File()
	return c, err
}

// chooseTrust says whether pairs may share noise.
func (f *adviseFlags) chooseTrust(cmd *cobra.Command, c *plan.Case) error {
	said := *f
	if !terminal.Given(cmd, "trust") {
		said.trust.trust = threat.SecLDP.String()
	} else if c.Collude = plan.Yes; f.trust.trust == threat.SecLDP.String() {
		c.Collude = plan.No
	}
	sharing, err := said.trust.choose(cmd)
	if sharing != nil {
		c.Sharing = *sharing
	}
	return err
}

// chooseSampling says whether batches may be drawn in secret, and how.
func (f *adviseFlags) chooseSampling(cmd *cobra.Command, c *plan.Case) error {
	c.Schemes = []participation.Scheme{participation.Poisson, participation.Allocation}
	switch {
	case !cmd.Flags().Changed("sampling"):
		return nil
	case f.sampling == samplingSecret:
		c.Secret = plan.Yes
		return nil
	}
	scheme, err := participation.ParseScheme(f.sampling)
	if err != nil {
		return err
	}
	if c.Secret = plan.Yes; scheme == participation.InTurn {
		c.Secret = plan.No
		return nil
	}
	c.Schemes = []participation.Scheme{scheme}
	return nil
}

// ofTask says what is trained if it is a task, which is dealt to the nodes.
func (f *adviseFlags) ofTask(cmd *cobra.Command, c *plan.Case) (err error) {
	nodes := 1
	if n := c.Problem.Network; n != nil {
		nodes = n.Graph.Nodes()
	}
	if task := f.loss.Task(); task != "" {
		if f.budgets.file != "" {
			return terminal.Usagef("--budgets is not for predictions of a training: leave out --task")
		}
		f.Note(cmd)("--task " + task + ": its curvature and distance are of private records: for simulations; where gradients are clipped its predictions " +
			"are too good, the more the smaller the clip")
	}
	c.Training, c.Records, err = f.loss.OfTask(c.Options.Privacy.Clip, nodes)
	return cmp.Or(err, plan.CheckCase(*c))
}

func (f *adviseFlags) run(cmd *cobra.Command) (err error) {
	if err := f.ask(cmd); err != nil {
		return err
	}
	c, err := f.chooseCase(cmd)
	if err != nil {
		return err
	}
	if c.Problem.Workload.Kind == workload.Prefix {
		err = refuseNetwork(cmd, false)
	} else if c.Problem.Network, err = f.network.Load(); err == nil {
		err = completeProblem(cmd.Context(), &c.Problem, func() error { return plan.CheckCase(c) })
	}
	if err == nil && c.Training == nil {
		err = f.ofTask(cmd, &c)
	}
	if err != nil {
		return err
	}
	pictures := []string{adviceName}
	if f.front {
		pictures = append(pictures, frontName)
	}
	if c.Training != nil {
		pictures = append(pictures, ratesName)
	}
	if n := c.Problem.Network; n != nil {
		f.Note(cmd)(n.Notes...)
	}
	return f.produce(cmd, adviceName, pictures, func(ctx context.Context, bar *terminal.Progress) (outcome, error) {
		return f.find(ctx, cmd, c, bar)
	})
}

// find compares the ways of a case.
func (f *adviseFlags) find(ctx context.Context, cmd *cobra.Command, c plan.Case, bar *terminal.Progress) (o outcome, err error) {
	c.Options.Progress = func(e plan.Event) {
		bar.Stage(e.Phase)
		bar.Show(e.Fraction, e.Phase)
	}
	compared, err := plan.Compare(ctx, c)
	bar.Clear()
	if err != nil {
		return o, err
	}
	advice := results.AdviceOf(cmd, newPatientCommand("optimize", &optimizeFlags{runner: f.runner}), f.ownFlags(), compared)
	advice.Participation = export.DescribeSchema(f.schema.Schema, c.Problem.Schema)
	advice.Adjacency, advice.Budgets = f.privacy.Adjacency.String(), f.budgets.file
	var front *plan.MemoryFront
	if f.front {
		if front, err = plan.FindMemoryFront(ctx, c); err != nil {
			return o, err
		}
		advice.MemoryFront = results.MemoryFrontOf(cmd, f.ownFlags(), front)
	}
	o = outcome{data: advice, says: advice.Document(compared, front),
		tables: []study.File{{Name: adviceName + ".csv",
			Write: func(w io.Writer) error { return results.WriteAdviceCSV(w, advice) }}},
		pictures: func(context.Context) (p figures.Pictures, err error) {
			p.Add(adviceName)(figures.Advice(compared))
			if c.Training != nil {
				p.Add(ratesName)(figures.Rates(compared))
			}
			if front != nil {
				p.Add(frontName)(figures.MemoryFront(front))
			}
			return p, nil
		}}
	if front != nil {
		o.tables = append(o.tables, study.File{Name: frontName + ".csv",
			Write: func(w io.Writer) error { return results.WriteFrontCSV(w, advice.MemoryFront) }})
	}
	return o, nil
}
