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
	cmd := newPatientCommand("submit", new(submitFlags))
	cmd.Args = nil
	return cmd
}

func (f *submitFlags) run(cmd *cobra.Command) error {
	engine, err := f.choose(cmd)
	if err != nil {
		return err
	}
	plan := &grids.GridPlan{Processors: f.processors}
	if err := f.plan(cmd, cmd.Flags().Args(), plan); err != nil {
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
	switch {
	case f.shards < 1 || f.shards > mostShards:
		return nil, terminal.Usagef("--shards %d: must be at least 1 and at most %d", f.shards, mostShards)
	case f.time < 0:
		return nil, terminal.Usagef("--time %v: must be positive", f.time)
	}
	return engine, nil
}

// plan has the command put its cells into plan, and computes none of them.
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
