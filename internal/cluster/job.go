package cluster

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"mafalda/internal/fault"
)

// Job is a grid, or what is missing of it.
type Job struct {
	Name    string   // name of lower-case letters, digits and hyphens
	Command []string // the program and its words; the part of a shard, such as 3/20, follows as the last one
	Merge   []string // the program and the words that merge the shards; it is run when they have ended
	Logs    string   // a folder for what shards say, where the engine does not keep it; it is made

	Shards []int // shards to run, counted from 1, ascending; none: only Merge is left
	Of     int   // number of shards of the grid

	Processors int           // processors of a shard, at least 1
	Memory     float64       // bytes of a shard; 0: whatever the engine gives
	Time       time.Duration // time after which a shard is ended; 0: whatever the engine allows
}

// Engine runs shards.
type Engine interface {
	Name() string

	// Check says what is missing for a job before it can be written. The error is a fault.Argument that names a field
	// of the engine, or of the job.
	Check(j *Job) error

	// Write writes the job as it would be handed in by hand.
	Write(w io.Writer, j *Job) error

	// Run hands the job in. What the engine says goes to w, what shards complain of, where they are waited for, to
	// complain.
	Run(ctx context.Context, j *Job, w, complain io.Writer) error
}

// part returns what a shard is called.
func (j *Job) part(shard string) string { return shard + "/" + strconv.Itoa(j.Of) }

// shardCommand returns the command that runs one part of the grid, such as 3/20: the words of Command, and the part as the last one.
func (j *Job) shardCommand(part string) []string {
	return append(j.Command[:len(j.Command):len(j.Command)], part)
}

// Ranges writes ascending numbers as 1-3,7: as Slurm has the tasks of an array.
func Ranges(numbers []int) string {
	var all []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		text := strconv.Itoa(numbers[i])
		if last > i {
			text += "-" + strconv.Itoa(numbers[last])
		}
		all = append(all, text)
		i = last + 1
	}
	return strings.Join(all, ",")
}

// megabytes returns memory in units of 2²⁰ bytes, rounded up.
func (j *Job) megabytes() int64 { return int64(math.Ceil(j.Memory / (1 << 20))) }

// checkName refuses names that an engine might take for something else.
func (j *Job) checkName() error {
	const most = 40
	if j.Name == "" || len(j.Name) > most || strings.Trim(j.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
		strings.HasPrefix(j.Name, "-") {
		return fault.New("Name", j.Name, "must be 1 to %d lower-case letters, digits and hyphens", most)
	}
	return nil
}
