package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/accounting/bins"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/text"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/threat"
)

// optimizeFlags fill a plan.Problem, the plan.Options for it, and the export.WriteOptions of its solution.
type optimizeFlags struct {
	runner      *grids.Runner
	network     flags.NetworkFlags
	workload    flags.WorkloadFlags
	curvature   flags.CurvatureFlags
	objective   string
	schema      flags.SchemaFlags
	gram        gramFlags
	class       classFlags
	budget      flags.BudgetFlags
	sampling    string
	trust       trustFlags
	budgets     levelFlags
	tolerance   float64
	groups      int
	options     plan.Options // what other flags than these bind directly
	privacy     flags.PrivacyFlags
	format      string
	write       export.WriteOptions
	keepPartial bool
	verbose     bool
	terminal.Output
	shard grids.ShardFlags
}

func (f *optimizeFlags) bind(cmd *cobra.Command) {
	f.network.BindGraphs(cmd)
	f.network.BindGossip(cmd)
	fl := cmd.Flags()
	f.workload.Bind(cmd, &f.network)
	f.curvature.Bind(cmd)
	about, names := "what is to be small:", []string(nil)
	for _, o := range measure.Objectives() {
		names = append(names, o.String())
		about += fmt.Sprintf("\n%v: %s", o, o.About())
	}
	terminal.ChoiceVar(cmd, &f.objective, "objective", plan.Mean.String(), names, about)
	f.schema.Bind(cmd)
	fl.Float64Var(&f.tolerance, "tolerance", plan.Mean.Tolerance(), "certified relative gap to stop at "+
		"(default 1e-3 for --objective max, 1e-2 for last and for noise that counts for nothing)")
	f.gram.bind(cmd)
	o := &f.options
	fl.StringVar(&o.StartFrom, "start", "", "start from the strategy of this earlier export, of the same T "+
		"(another network will do)")
	fl.StringVar(&o.Checkpoint, "checkpoint", "",
		"keep the optimization in this `file` while it runs, every ten seconds")
	fl.BoolVar(&o.Resume, "checkpoint resume", false, "go on with the optimization in it, if it is there")
	terminal.Family(cmd, "checkpoint", "")
	f.class.bind(cmd)
	f.budget.Bind(cmd, "choose class and width of --strategy, the best that keeps no more, such as 4GB,dim=1e6")
	terminal.ChoiceVar(cmd, &f.sampling, "sampling", participation.InTurn.String(), participation.Schemes(),
		"how nodes draw batches: cyclic (in turn; attackers may know when a record takes part),\n"+
			"poisson (in secret, every record with probability w/b in w groups; needs --epsilon and --delta,\n"+
			"and finds the best w up to b unless --strategy bandwidth says it),\n"+
			"allocation (in secret, every record in one step, drawn at random, of each of k blocks of its group's steps; T = k·b),\n"+
			"truncated (poisson with batches of at most max records, for static shapes; needs records),\n"+
			"bins (in secret, every record put once into one of b batches of random size, drawn independently and\n"+
			"uniformly: not a permutation that is cut into equal batches; needs --epsilon and --delta)")
	terminal.Whole(fl, &o.Batches.Records, "sampling records", "of truncated: at least as many as any "+
		"node has")
	terminal.Whole(fl, &o.Batches.Most, "sampling max", "of truncated: records in a step; of more that are "+
		"drawn, some are dropped,\nand the chance of that is added to --delta (default: the least that costs nearly nothing)")
	terminal.Whole(fl, &o.MonteCarlo.Samples, "sampling samples", "of the accountant of bins, drawn with --seed "+
		"(default 524288)")
	fl.Float64Var(&o.MonteCarlo.Failure, "sampling failure", 0, "probability that the accountant of bins may be wrong "+
		"with (default 1e-9)")
	terminal.Family(cmd, "sampling", "")
	f.trust.bind(cmd, threat.LDP.String(), "against whom:\nldp: everybody who sees all messages; every node has its own "+
		"noise\nsecldp: nodes, too, that know the noise they share; pairs share noise that cancels when they average\n"+
		"(docs/secrets.md)")
	fl.BoolVar(&o.PerNode, "strategy per-node", false, "a dense strategy for every node, exported as one n×T×T array")
	terminal.Whole(fl, &f.groups, "strategy groups",
		"so many dense strategies that the nodes share, found by assigning "+
			"and optimizing in turn")
	terminal.Family(cmd, "strategy", "")
	f.privacy.Bind(cmd)
	f.budgets.bind(cmd)
	f.Output.Bind(cmd, "write C, C⁻¹, nodes and manifest to this `folder`", "replace an earlier export",
		"print one JSON object instead of the table")
	terminal.ChoiceVar(cmd, &f.format, "format", "npy", export.Formats(), "of the matrices: npy, csv or both")
	fl.BoolVar(&f.write.ParametersOnly, "format parameters-only", false,
		"export the parameters of a structured strategy only, not its "+
			"matrices (the default for T > 4096)")
	terminal.Family(cmd, "format", "")
	fl.BoolVar(&f.keepPartial, "keep-partial", false, "export the best strategy so far if interrupted or not converged")
	fl.BoolVar(&f.options.NoBaselines, "no-baselines", false, "do not compare with DP-D-SGD, AntiPGD and D-MF")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print every iteration on stderr")
	f.shard.Bind(cmd)
	terminal.InGroup(cmd, "Output", "output", "shard", "format", "force", "keep-partial", "json", "quiet", "verbose")
}

// problem returns what the flags ask for, but for the network.
func (f *optimizeFlags) problem(cmd *cobra.Command) (plan.Problem, plan.Options, error) {
	p, o := plan.Problem{}, f.options
	o.Partial, f.write.Force = f.keepPartial, f.Force
	err := allOf(
		func() (err error) { p.Schema, err = f.schema.Choose(cmd); return err },
		func() (err error) { p.Workload, err = f.workload.Spec(cmd); return err },
		func() (err error) { p.Curvature, err = f.curvature.Choose(cmd); return err },
		func() (err error) { o.Sampling, err = participation.ParseScheme(f.sampling); return err },
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
		func() (err error) { p.Objective, err = measure.ParseObjective(f.objective); return terminal.Usage(err) },
		func() (err error) { f.write.Format, err = export.ParseFormat(f.format); return err },
		func() (err error) { o.Privacy, err = f.privacy.Choose(cmd); return err },
		func() (err error) { p.Levels, err = f.budgets.choose(cmd, &f.privacy, &o); return err },
		func() (err error) { p.Sharing, err = f.trust.choose(cmd); return err },
		func() (err error) { p.Gram, err = f.gram.choose(cmd, f.network.Seed); return err })
	if err != nil {
		return p, o, err
	}
	p.SchemaFile = f.schema.File()
	o.Groups = given(cmd, "strategy groups", f.groups)
	o.Tolerance = given(cmd, "tolerance", f.tolerance)
	o.Batches.Records = given(cmd, "sampling records", o.Batches.Records)
	o.Batches.Most = given(cmd, "sampling max", o.Batches.Most)
	o.MonteCarlo = bins.MonteCarlo{Samples: given(cmd, "sampling samples", o.MonteCarlo.Samples),
		Failure: given(cmd, "sampling failure", o.MonteCarlo.Failure), Seed: f.network.Seed}
	if cmd.Flags().Changed("output") && f.Dir == "" {
		return p, o, terminal.Usagef("--output is empty: name a folder")
	}
	return p, o, nil
}

// given returns the value of a flag for an option whose zero value is its default: zero without the flag, and a value
// that is refused if zero was given.
func given[V int | float64](cmd *cobra.Command, flag string, v V) V {
	switch {
	case !cmd.Flags().Changed(flag):
		return 0
	case v == 0:
		return -1
	}
	return v
}

// gramFlags say how the Gram matrix is computed.
type gramFlags struct {
	method string
	gram   plan.Gram
}

func (f *gramFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	terminal.ChoiceVar(cmd, &f.method, "gram", "auto", measure.GramMethods(),
		"Gram matrix: exact, lanczos (estimated from random vectors, with an error "+
			"bound),\nsampled (likewise from random runs of networks that change), or\nauto: exact unless that takes minutes")
	terminal.Whole(fl, &f.gram.Probes, "gram probes", "random vectors of lanczos, at least 4 (default 800,000 "+
		"divided by the nodes,\na multiple of 4 from 4 to 100); all unit vectors, without chance, for as many nodes "+
		"or for\n128 and fewer")
	f.gram.LanczosSteps = 40
	terminal.Whole(fl, &f.gram.LanczosSteps, "gram steps", "products with the gossip matrix for each of them")
	terminal.Family(cmd, "gram", "")
}

func (f *gramFlags) choose(cmd *cobra.Command, seed uint64) (plan.Gram, error) {
	method, err := measure.ParseGramMethod(f.method)
	return plan.Gram{Method: method, Probes: given(cmd, "gram probes", f.gram.Probes),
		LanczosSteps: given(cmd, "gram steps", f.gram.LanczosSteps), Seed: seed}, err
}

// classFlags say which class of strategies to optimize over.
type classFlags struct {
	class      string
	parameters factorize.Parameters
}

func (f *classFlags) bind(cmd *cobra.Command) {
	var names []string
	about := "class of strategies:"
	for _, c := range factorize.Classes() {
		names = append(names, c.Name())
		about += fmt.Sprintf("\n%s: %s", c.Name(), c.Traits().About)
	}
	terminal.ChoiceVar(cmd, &f.class, "strategy", factorize.Dense{}.Name(), names, about)
	f.parameters.Buffers = factorize.BLT{}.Traits().Buffers
	terminal.Whole(cmd.Flags(), &f.parameters.Bandwidth, "strategy bandwidth", "bands or coefficients w of the strategy (default: "+
		"see --strategy)")
	terminal.Whole(cmd.Flags(), &f.parameters.Buffers, "strategy buffers",
		"buffers of blt and comb, 1 to 64; fewer by default where T is no more")
	cmd.Flags().BoolVar(&f.parameters.ScaleColumns, "strategy scale-columns", false,
		"fit the scales of columns, for toeplitz and comb")
	terminal.InGroup(cmd, "Strategy", "strategy")
}

// given reports whether a flag says anything of the class.
func (f *classFlags) given(cmd *cobra.Command) bool {
	return terminal.Given(cmd, "strategy") || slices.ContainsFunc([]string{"bandwidth", "buffers", "scale-columns"}, func(part string) bool {
		return cmd.Flags().Changed("strategy " + part)
	})
}

// choose returns the class, c unless a flag names one, with its parameters, after refusing those that it does not have.
func (f *classFlags) choose(cmd *cobra.Command, c factorize.Class) (factorize.Class, error) {
	changed := cmd.Flags().Changed
	if terminal.Given(cmd, "strategy") {
		var err error
		if c, err = factorize.ClassOf(f.class); err != nil {
			return nil, terminal.Usage(err)
		}
	}
	has := c.Traits()
	switch {
	case changed("strategy bandwidth") && has.Bandwidth == nil:
		return nil, terminal.Usagef("--strategy %s has no bandwidth", c.Name())
	case changed("strategy buffers") && has.Buffers == 0:
		return nil, terminal.Usagef("--strategy: buffers are of blt and comb")
	case f.parameters.ScaleColumns && !has.ScaleColumns:
		return nil, terminal.Usagef("--strategy: scale-columns is of toeplitz and comb")
	}
	p := f.parameters
	p.Bandwidth, p.Buffers = given(cmd, "strategy bandwidth", p.Bandwidth), given(cmd, "strategy buffers", p.Buffers)
	return c.With(p)
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
