package grids

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/study"
)

// ShardFlags say which part of its grid a command computes. Parts are computed by several machines into one folder;
// merge makes of them what one machine would have made.
type ShardFlags struct {
	part string

	shard   study.Shard
	command []string // that all shards have in common
	says    io.Writer
	quiet   bool
	json    bool // is what merge is to print
}

// IsPart reports whether only a part is asked for.
func (f *ShardFlags) IsPart() bool { return f != nil && f.shard.Of > 0 }

// Parse reads the flag of a command that writes to dir.
func (f *ShardFlags) Parse(cmd *cobra.Command, runner *Runner, dir string) (err error) {
	if !cmd.Flags().Changed("shard") {
		return nil
	}
	switch {
	case runner.Engine != nil:
		return terminal.Usagef("--shard is for machines that nobody deals cells to: leave it out")
	case dir == "":
		return terminal.Usagef("--shard needs -o: a folder that all shards write to")
	}
	if f.shard, err = parseShard(f.part, os.Getenv); err != nil {
		return err
	}
	if f.command, err = commandOf(cmd, runner.Words); err != nil {
		return err
	}
	given := func(name string) bool {
		fl := cmd.Flags().Lookup(name)
		return fl != nil && fl.Value.String() == "true"
	}
	f.quiet, f.json = given("quiet"), given("json")
	if f.says = cmd.ErrOrStderr(); f.quiet {
		f.says = io.Discard
	}
	return nil
}

// parseShard reads i/N, auto or auto/N, with the environment of a job.
func parseShard(part string, env func(string) string) (s study.Shard, err error) {
	index, of, cut := strings.Cut(part, "/")
	list, listed := strings.CutPrefix(index, "auto:")
	if index == "auto" || listed {
		if s, err = shardOfJob(of, cut, env); err == nil && listed {
			s, err = listedShard(list, s)
		}
		return s, err
	}
	if s.Index, err = strconv.Atoi(index); err == nil {
		s.Of, err = strconv.Atoi(of)
	}
	if err != nil || s.Index < 1 || s.Index > s.Of {
		return s, terminal.Usagef("--shard %s: must be i/N, with i from 1 to N, or auto", part)
	}
	return s, nil
}

// shardOfJob reads what Slurm says of a task of an array, or Kubernetes of a pod of an indexed job, which does not say
// how many there are.
func shardOfJob(of string, cut bool, env func(string) string) (s study.Shard, err error) {
	number := func(name string, otherwise int) int {
		text := env(name)
		if text == "" && otherwise >= 0 {
			return otherwise
		}
		v, failed := strconv.Atoi(text)
		if failed != nil && err == nil {
			err = terminal.Usagef("--shard auto: %s is %q, which is no number", name, text)
		}
		return v
	}
	switch {
	case env("SLURM_ARRAY_TASK_ID") != "" && !cut:
		step := max(number("SLURM_ARRAY_TASK_STEP", 1), 1)
		s.Index = (number("SLURM_ARRAY_TASK_ID", -1)-number("SLURM_ARRAY_TASK_MIN", -1))/step + 1
		s.Of = number("SLURM_ARRAY_TASK_COUNT", -1)
	case env("SLURM_ARRAY_TASK_ID") != "":
		return s, terminal.Usagef("--shard auto/%s: a Slurm array says itself how many tasks it has: use --shard auto", of)
	case env("JOB_COMPLETION_INDEX") != "" && !cut:
		return s, terminal.Usagef("--shard auto: Kubernetes does not say how many pods there are: use --shard auto/N")
	case env("JOB_COMPLETION_INDEX") != "":
		s.Index = number("JOB_COMPLETION_INDEX", -1) + 1 // of the listed shards, if there is a list
		if s.Of, err = strconv.Atoi(of); err != nil {
			return s, terminal.Usagef("--shard auto/%s: N must be a whole number", of)
		}
	default:
		return s, terminal.Usagef("--shard auto: there is neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX: use --shard i/N")
	}
	if err == nil && (s.Index < 1 || s.Index > s.Of) {
		err = terminal.Usagef("--shard auto: part %v is none of the job", s)
	}
	return s, err
}

// listedShard returns the shard of a list such as 1-3,7 that a job's part stands for: s.Index counts in the list.
func listedShard(list string, s study.Shard) (study.Shard, error) {
	at := s.Index
	for span := range strings.SplitSeq(list, ",") {
		first, last, several := strings.Cut(span, "-")
		from, err := strconv.Atoi(first)
		to := from
		if several && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to > s.Of {
			return s, terminal.Usagef("--shard auto:%s/%d: %q is none of the parts", list, s.Of, span)
		}
		if at <= to-from+1 {
			return study.Shard{Index: from + at - 1, Of: s.Of}, nil
		}
		at -= to - from + 1
	}
	return s, terminal.Usagef("--shard auto:%s/%d: the list has no part %d", list, s.Of, s.Index)
}

// ownFlags are those that say nothing about what is computed, or are given anew by merge.
var ownFlags = []string{"shard", "output", "json", "quiet", "verbose", "force", "cpuprofile", "memprofile", "help", "help-all", "progress",
	"lent-folder"}

// CommandOf returns the command line of a command, in words, as a folder keeps it with its results: the name and all
// flags that say what is computed, every value as it was typed.
func (r *Runner) CommandOf(cmd *cobra.Command) []string {
	command := strings.Fields(cmd.CommandPath())[1:]
	ofGrid := cmd.Flags().Lookup("shard") != nil                       // and then there may be flags of an engine
	_ = typed(cmd, r.Words, func(fl *pflag.Flag, value string) error { // they have been read before
		aside := slices.Contains(ownFlags, fl.Name) || fl.Name == "checkpoint"
		switch {
		case aside || ofGrid && !recorded(cmd, fl.Name):
		case fl.NoOptDefVal == value: // a flag that needs no value has this one
			command = append(command, "--"+fl.Name)
		case fl.NoOptDefVal != "" || strings.HasPrefix(value, "-"):
			command = append(command, "--"+fl.Name+"="+value)
		default:
			command = append(command, "--"+fl.Name, value)
		}
		return nil
	})
	return append(command, cmd.Flags().Args()...)
}

// commandOf returns the words of a command without ownFlags, every value as it was typed in the arguments of the
// program.
func commandOf(cmd *cobra.Command, arguments []string) ([]string, error) {
	command := strings.Fields(cmd.CommandPath())[1:]
	err := typed(cmd, arguments, func(fl *pflag.Flag, value string) error {
		if !slices.Contains(ownFlags, fl.Name) {
			command = append(command, "--"+fl.Name+"="+value)
		}
		return nil
	})
	return append(command, cmd.Flags().Args()...), err
}

// typed calls see with every flag of a command in the arguments of the program, and its value as it was typed.
func typed(cmd *cobra.Command, arguments []string, see func(fl *pflag.Flag, value string) error) error {
	_, rest, err := cmd.Root().Find(arguments)
	if err != nil {
		return err
	}
	return cmd.Flags().ParseAll(rest, see)
}

// costs returns about how many seconds the cells take; all alike where that is not known.
func (s Study[C, R]) costs() []float64 {
	costs := make([]float64, len(s.Cells))
	for i, c := range s.Cells {
		costs[i] = 1
		if s.Cost != nil {
			costs[i] = s.Cost(c)
		}
	}
	return costs
}

// runShard computes the cells of a shard, or fills in a plan. The files of the folder are left to merge.
func (s Study[C, R]) runShard(ctx context.Context, plan *GridPlan, store *study.Store[C, R], bar *terminal.Progress) error {
	if plan != nil {
		return planGrid(plan, s, store)
	}
	if err := store.Ask(ctx, s.Shard.command, s.Cells); err != nil {
		return StudyError(err)
	}
	mine := lists.Map(s.Shard.shard.Deal(s.costs()), func(i int) C { return s.Cells[i] })
	err := study.Run(ctx, store, mine, s.Do, study.Options{Workers: s.Workers, Progress: bar.ShowAt, GoOn: true})
	bar.Clear()
	if err != nil {
		return StoppedError(err, s.Dir, s.Cell)
	}
	fmt.Fprintf(s.Shard.says, "shard %v of the grid: %d of %s, all there; when the others are: mafalda merge %s\n",
		s.Shard.shard, len(mine), terminal.Count(len(s.Cells), s.Cell), terminal.Shown(s.Dir))
	return nil
}
