package grids

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
)

func TestParseShard(t *testing.T) {
	slurm := map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "4"}
	stepped := map[string]string{"SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_STEP": "4",
		"SLURM_ARRAY_TASK_COUNT": "3"}
	pod := map[string]string{"JOB_COMPLETION_INDEX": "0"}
	for _, test := range []struct {
		part string
		env  map[string]string
		want string // a shard, or part of an error
	}{
		{"1/1", nil, "1/1"},
		{"3/20", slurm, "3/20"}, // the environment counts with auto only
		{"auto", slurm, "3/4"},
		{"auto", stepped, "3/3"},
		{"auto/8", pod, "1/8"},
		{"auto", pod, "use --shard auto/N"},
		{"auto/8", slurm, "use --shard auto"},
		{"auto", nil, "neither SLURM_ARRAY_TASK_ID nor"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "3"}, "none of the job"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "3"}, "no number"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "1"}, "no number"},
		{"auto/x", pod, "whole number"},
		{"auto:2,5-7/8", pod, "2/8"},
		{"auto:2,5-7/8", map[string]string{"JOB_COMPLETION_INDEX": "1"}, "5/8"},
		{"auto:2,5-7/8", map[string]string{"JOB_COMPLETION_INDEX": "3"}, "7/8"},
		{"auto:2,5-7/8", map[string]string{"JOB_COMPLETION_INDEX": "4"}, "the list has no part 5"},
		{"auto:2,9/8", map[string]string{"JOB_COMPLETION_INDEX": "1"}, `"9" is none of the parts`},
		{"auto:3-2/8", pod, `"3-2" is none of the parts`}, {"auto:0/8", pod, `"0" is none of the parts`},
		{"auto:/8", pod, `"" is none of the parts`}, {"auto:1-x/8", pod, `"1-x" is none of the parts`},
		{"auto:1,2", pod, "use --shard auto/N"}, {"auto:1,2/8", slurm, "use --shard auto"},
		{"4/3", nil, "i from 1 to N"}, {"0/3", nil, "i from 1 to N"}, {"-1/3", nil, "i from 1 to N"}, {"1", nil, "i/N"},
		{"", nil, "i/N"}, {"1/3/4", nil, "i/N"}, {"a/b", nil, "i/N"},
	} {
		got, err := parseShard(test.part, func(name string) string { return test.env[name] })
		if err == nil && got.String() != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q with %v: %v, %v; want %s", test.part, test.env, got, err, test.want)
		}
	}
}

// A command is written down as it was typed, whatever is in its flags.
func TestCommandOf(t *testing.T) {
	var got []string
	var text string
	program := func(args []string) *cobra.Command {
		root := &cobra.Command{Use: "program"}
		cmd := &cobra.Command{Use: "count", RunE: func(cmd *cobra.Command, _ []string) (err error) {
			got, err = commandOf(cmd, args)
			return err
		}}
		fl := cmd.Flags()
		fl.StringVarP(&text, "graph", "g", "", "")
		fl.StringP("output", "o", "", "")
		fl.BoolP("quiet", "q", false, "")
		fl.Bool("secure", false, "")
		fl.Float64Slice("mu", nil, "")
		fl.Int("steps", 3, "")
		fl.String("shard", "", "")
		root.AddCommand(cmd)
		return root
	}
	typed := []string{"count", "-qo", "here", "--shard", "1/3", "--mu", "1e-9,0.5", "-g", "a b=c", "--mu=2", "--secure"}
	want := []string{"count", "--mu=1e-9,0.5", "--graph=a b=c", "--mu=2", "--secure=true"}
	for _, args := range [][]string{typed, want} { // what is written down means the same
		var errs strings.Builder
		if code := terminal.Run(t.Context(), program(args), args, &errs, &errs, flags.Explain); code != 0 || !slices.Equal(got, want) || text != "a b=c" {
			t.Errorf("%q: %q, %s", args, got, &errs)
		}
		text = ""
	}
}
