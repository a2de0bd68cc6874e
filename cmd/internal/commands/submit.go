package commands

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/cluster"
	"mafalda/internal/lists"
)

type submitFlags struct {
	engine, program    string
	shards, processors int
	memory             terminal.ByteSize
	time               time.Duration
	kubernetes         cluster.Kubernetes
	yes, quiet         bool
}

// mostShards is how many no cluster would take.
const mostShards = 1_000_000

// engines returns those that the flags describe.
func (f *submitFlags) engines() []cluster.Engine {
	return []cluster.Engine{cluster.Local{}, cluster.Slurm{}, f.kubernetes}
}

func (f *submitFlags) engineNames() []string {
	return lists.Map(f.engines(), func(e cluster.Engine) string { return e.Name() })
}

func newSubmitCmd() *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit --engine ENGINE -- COMMAND",
		Short: "Run a grid on a Slurm cluster, on Kubernetes, or in several processes",
		Long: `Write the job that computes a grid in shards, and that merges them; with --yes, hand it in. COMMAND is one that has --shard, with
the folder that all shards write to (-o), such as account --attacker all -o who. It is checked here, with all of its input, before
anything is handed in: submit where the shards will find the same files by the same paths.

  local       processes of this machine, each with its part of the processors. They are waited for, and merged.
  slurm       an array for sbatch, and a job that merges when it has ended, well or not; then it says what is missing.
              sbatch reads SBATCH_PARTITION, SBATCH_ACCOUNT and the like. What shards say is in FOLDER.logs.
  kubernetes  the manifest of an indexed Job, whose pods find the folder, and the files of the command, on a persistent
              volume; --yes gives it to kubectl create. Merge where the volume is mounted.

Memory and time are asked for as the command estimates them: what it needs, and ten times the time that its dearest shard may
take, half an hour at least. Nothing is asked for that is not known.

What is there is not computed again, and shards that are complete are left out: submit again after some have failed, with the same
number of shards or another. 'mafalda status FOLDER' says how far they are.`,
		Example: `  mafalda submit --engine local --shards 2 --yes -- account --graph florentine --T 10 --attacker all -o who
  mafalda submit --engine slurm --shards 50 --yes -- account --graph ego.edges --T 380 --attacker all -o who
  mafalda submit --engine kubernetes:image=me/mafalda,claim=data --shards 20 -- simulate --seeds 20 -o runs > job.yaml
  mafalda status who`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := terminal.Interruptible(cmd.Context())
			defer stop()
			cmd.SetContext(ctx)
			return f.run(cmd, args)
		},
	}
	names := f.engineNames()
	fl := cmd.Flags()
	terminal.ChoiceVar(cmd, &f.engine, "engine", "", names, "where shards run: "+strings.Join(names, ", "))
	terminal.Whole(fl, &f.shards, "shards", "how many (default: with --engine local as many as there are processors, else 16)")
	terminal.Whole(fl, &f.processors, "cpus", "processors of a shard (default: with --engine local its part of all, else 2)")
	fl.Var(&f.memory, "memory", "of a shard, such as 4GB (default: as the command estimates)")
	fl.DurationVar(&f.time, "time", 0, "after which a shard may be ended, such as 2h (default: ten times what the command estimates)")
	fl.StringVar(&f.program, "program", "", "the program where shards run (default: this one; with --engine kubernetes mafalda)")
	fl.StringVar(&f.kubernetes.Image, "engine image", "", "of a container with the program, for kubernetes")
	fl.StringVar(&f.kubernetes.Claim, "engine claim", "", "the persistent volume `claim` of the folder, for kubernetes")
	fl.StringVar(&f.kubernetes.Mount, "engine mount", "/data", "where pods see it, and run")
	terminal.Family(cmd, "engine", "")
	fl.BoolVar(&f.yes, "yes", false, "hand the job in")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the job without --yes; with --engine local the JSON of a COMMAND with --json)")
	return cmd
}

func (f *submitFlags) run(cmd *cobra.Command, args []string) error {
	engine, err := f.choose(cmd)
	if err != nil {
		return err
	}
	plan := &grids.GridPlan{Processors: f.processors}
	if err := f.plan(cmd, args, plan); err != nil {
		return err
	}
	job, err := f.job(engine, plan)
	if err != nil {
		return err
	}
	if err := engine.Check(job); err != nil {
		return err
	}
	if !f.quiet {
		f.say(cmd.ErrOrStderr(), job, plan)
	}
	if !f.quiet || !f.yes {
		if err := engine.Write(terminal.Raw(cmd.OutOrStdout()), job); err != nil {
			return err
		}
	}
	if !f.yes {
		return nil
	}
	out := cmd.OutOrStdout()
	if _, here := engine.(cluster.Local); f.quiet && !here {
		out = io.Discard // which jobs there are
	}
	if err := engine.Run(cmd.Context(), job, out, cmd.ErrOrStderr()); err != nil {
		if cmd.Context().Err() != nil {
			err = terminal.ErrInterrupted
		}
		return fmt.Errorf("%w; the same command goes on with what is missing (mafalda status %s)", err, terminal.Shown(plan.Dir))
	}
	return nil
}

// choose returns the engine, and fills in what depends on it.
func (f *submitFlags) choose(cmd *cobra.Command) (cluster.Engine, error) {
	names := f.engineNames()
	at := slices.Index(names, f.engine)
	switch {
	case f.engine == "":
		return nil, terminal.Usagef("submit needs --engine: %s", strings.Join(names, ", "))
	case at < 0:
		return nil, terminal.Usagef("unknown engine %q: choose %s", f.engine, strings.Join(names, ", "))
	}
	engine, here := f.engines()[at], runtime.NumCPU()
	_, local := engine.(cluster.Local)
	shards, processors := 16, 2
	if local {
		shards = here
	}
	if !cmd.Flags().Changed("shards") {
		f.shards = shards
	}
	if local {
		processors = max(1, here/max(f.shards, 1))
	}
	if !cmd.Flags().Changed("cpus") {
		f.processors = processors
	}
	if err := terminal.Refuse(cmd, "--%s is not for --engine "+f.engine, f.others(engine)...); err != nil {
		return nil, err
	}
	switch {
	case f.shards < 1 || f.shards > mostShards:
		return nil, terminal.Usagef("--shards %d: must be at least 1 and at most %d", f.shards, mostShards)
	case f.processors < 1:
		return nil, terminal.Usagef("--cpus %d: must be at least 1", f.processors)
	case f.time < 0:
		return nil, terminal.Usagef("--time %v: must be positive", f.time)
	}
	return engine, nil
}

// others returns the flags that an engine has no use for.
func (f *submitFlags) others(engine cluster.Engine) []string {
	kubernetes := []string{"engine image", "engine claim", "engine mount"}
	switch engine.(type) {
	case cluster.Local:
		return append(kubernetes, "memory", "time")
	case cluster.Slurm:
		return kubernetes
	}
	return nil
}

// plan asks the command what there is to do.
func (f *submitFlags) plan(cmd *cobra.Command, args []string, plan *grids.GridPlan) error {
	runner := &grids.Runner{Plan: plan}
	root := newRootCmd(runner)
	if len(args) > 0 && args[0] == root.Name() {
		args = args[1:]
	}
	if len(args) == 0 {
		return terminal.Usagef("submit needs a command behind --, such as: submit --engine local -- account --graph florentine " +
			"--T 10 --attacker all -o who")
	}
	sub, _, err := root.Find(args)
	if err != nil || sub.Flags().Lookup("shard") == nil {
		return terminal.Usagef("%q is no command that computes in shards (they have --shard)", args[0])
	}
	if slices.ContainsFunc(args, func(w string) bool { return w == "--shard" || strings.HasPrefix(w, "--shard=") }) {
		return terminal.Usagef("leave out --shard: submit chooses the part of every shard")
	}
	runner.Words = append(args[:len(args):len(args)], "--shard=1/"+strconv.Itoa(f.shards))
	err = terminal.Nested(cmd.Context(), root, runner.Words, io.Discard, cmd.ErrOrStderr(), flags.Explain)
	if err == nil && plan.Dir == "" {
		err = terminal.Usagef("%s: nothing to compute in shards", strings.Join(args, " "))
	}
	return err
}

// job returns what is missing of the grid.
func (f *submitFlags) job(engine cluster.Engine, plan *grids.GridPlan) (*cluster.Job, error) {
	program := f.program
	if _, elsewhere := engine.(cluster.Kubernetes); elsewhere && program == "" {
		program = "mafalda"
	}
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("which program this is: %w (name it with --program)", err)
		}
	}
	words := append([]string{program}, plan.Command...)
	words = append(words, "--output="+plan.Dir)
	merge := []string{program, "merge", terminal.Operand(plan.Dir)}
	_, here := engine.(cluster.Local)
	if plan.Quiet || here && f.quiet && f.yes { // what shards elsewhere say goes to their logs
		words, merge = append(words, "--quiet"), append(merge, "--quiet")
	}
	if plan.JSON {
		merge = append(merge, "--json")
	}
	j := &cluster.Job{Name: "mafalda-" + plan.Command[0], Logs: strings.TrimRight(plan.Dir, "/") + ".logs",
		Command: append(words, "--shard"), Merge: merge,
		Shards: plan.Shards(), Of: f.shards, Processors: f.processors, Memory: float64(f.memory), Time: f.time}
	const base, room = 300e6, 1.25 // the program itself, and what an estimate leaves out
	if j.Memory == 0 && plan.Memory > 0 {
		j.Memory = base + room*plan.Memory
	}
	const least, most = 30 * time.Minute, 1000 * time.Hour
	if seconds := 10 * slices.Max(plan.Seconds); j.Time == 0 && seconds > 0 {
		j.Time = max(least, time.Duration(math.Min(seconds, most.Seconds()))*time.Second)
	}
	return j, nil
}

// say tells what is handed in, or would be.
func (f *submitFlags) say(w io.Writer, j *cluster.Job, plan *grids.GridPlan) {
	left := plan.Left()
	switch {
	case plan.Open:
		fmt.Fprintf(w, "missing: %d of %s of this round, and all rounds after it\n", left, terminal.Count(plan.Cells, "cell"))
	case left == 0:
		fmt.Fprintf(w, "all of %s are in %s: they are merged\n", terminal.Count(plan.Cells, "cell"), plan.Dir)
	default:
		fmt.Fprintf(w, "missing: %d of %s, in %d of %s", left, terminal.Count(plan.Cells, "cell"), len(j.Shards),
			terminal.Count(j.Of, "shard"))
		if seconds := slices.Max(plan.Seconds); seconds > 0 {
			fmt.Fprintf(w, "; the dearest takes about %v", time.Duration(math.Ceil(seconds))*time.Second)
		}
		fmt.Fprintln(w)
	}
	if !f.yes {
		fmt.Fprintln(w, "nothing is handed in without --yes")
	}
}
