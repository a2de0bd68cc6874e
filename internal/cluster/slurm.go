package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"mafalda/internal/text"
)

// Slurm runs shards as the tasks of an array, and merges in a job that waits until all of them have ended, well or not: then it
// says what is missing. Partition, account and the like come from the variables SBATCH_… that sbatch reads.
type Slurm struct{}

var _ Engine = Slurm{}

func (Slurm) Name() string { return "slurm" }

func (Slurm) Check(j *Job) error { return j.checkName() }

// batch is the program that takes jobs.
const batch = "sbatch"

// array returns the words that hand in the shards. A task has its shard's number, so that an array may have holes.
func (Slurm) array(j *Job) []string {
	words := []string{batch, "--parsable", "--job-name=" + j.Name, "--array=" + Ranges(j.Shards),
		"--cpus-per-task=" + strconv.Itoa(j.Processors), "--output=" + logs(j, "%A_%a.out")}
	if j.Memory > 0 {
		words = append(words, fmt.Sprintf("--mem=%dM", j.megabytes()))
	}
	if j.Time > 0 {
		words = append(words, fmt.Sprintf("--time=%d", int(math.Ceil(j.Time.Minutes()))))
	}
	line := fmt.Sprintf(`GOMAXPROCS=%d %s "%s"`, j.Processors, text.Line(j.Command...), j.part("$SLURM_ARRAY_TASK_ID"))
	return append(words, "--wrap="+line)
}

// merge returns the words that hand in the merging of a job, which waits for the array of this name; empty: for none. The
// name comes first, before any that a user chose.
func (Slurm) merge(j *Job, array string) []string {
	words := []string{batch, "--parsable"}
	if array != "" {
		words = append(words, "--dependency=afterany:"+array)
	}
	return append(words, "--job-name="+j.Name+"-merge", "--output="+logs(j, "%j_merge.out"), "--wrap="+text.Line(j.Merge...))
}

// logs returns a name of files in the folder of logs, in which Slurm would replace what follows a percent sign.
func logs(j *Job, name string) string {
	return filepath.Join(strings.ReplaceAll(j.Logs, "%", "%%"), name)
}

func (s Slurm) Write(w io.Writer, j *Job) error {
	script := "#!/bin/sh\nset -eu\nmkdir -p -- " + text.Quote(j.Logs) + "\n"
	if len(j.Shards) > 0 {
		script += "array=$(" + text.Line(s.array(j)...) + ")\n"
		before, after, _ := strings.Cut(text.Line(s.merge(j, "ARRAY")...), "ARRAY")
		script += before + `"${array%%;*}"` + after + "\n" // a cluster's name may follow
	} else {
		script += text.Line(s.merge(j, "")...) + "\n"
	}
	_, err := io.WriteString(w, script)
	return err
}

func (s Slurm) Run(ctx context.Context, j *Job, w, _ io.Writer) error {
	if err := os.MkdirAll(j.Logs, 0o777); err != nil {
		return err
	}
	array := ""
	if len(j.Shards) > 0 {
		var err error
		if array, err = handIn(ctx, s.array(j)); err != nil {
			return err
		}
		fmt.Fprintf(w, "job %s: shards %s of %d\n", array, Ranges(j.Shards), j.Of)
	}
	merge, err := handIn(ctx, s.merge(j, array))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "job %s: merges them when they have ended\n", merge)
	return err
}

// handIn runs sbatch, and returns the number of the job.
func handIn(ctx context.Context, words []string) (string, error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", programError(words[0], err, complaint.String())
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out.String()), ";") // a cluster's name may follow
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("%s says %q, which is no number of a job", words[0], id)
	}
	return id, nil
}

// programError returns the error of a program that was run, with the last line that it complained of.
func programError(program string, err error, complaint string) error {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%s: %w: %s", program, err, last)
	}
	return fmt.Errorf("%s: %w", program, err)
}
