//go:build unix

package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mafalda/internal/fault"
	"mafalda/internal/text"
)

// read returns the words that a shell reads in a line.
func read(t interface{ Fatal(...any) }, line string) []string {
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(line, err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}

// put puts a program, a script, first in the path.
func put(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// noting returns a job whose program appends its words to a file, and a function that reads them.
func noting(t *testing.T) (j *Job, notes func() []string) {
	t.Helper()
	dir := t.TempDir()
	path, program := filepath.Join(dir, "no'tes"), filepath.Join(dir, "a program")
	script := "#!/bin/sh\nprintf '%s\\n' \"$GOMAXPROCS $(printf '[%s]' \"$@\")\" >>" + text.Quote(path) + "\n" // one write a line
	if err := os.WriteFile(program, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	j = &Job{Name: "mafalda-count", Command: []string{program, "count", "--label=a \"b\" $HOME 'c'", "--shard"},
		Merge: []string{program, "merge", "fol der"}, Logs: filepath.Join(dir, "50% of.logs"), Shards: []int{1, 2, 4}, Of: 5,
		Processors: 3, Memory: 1e9, Time: 90 * time.Minute}
	return j, func() []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if len(lines) > 1 {
			slices.Sort(lines[:len(lines)-1]) // the last one merges
		}
		return lines
	}
}

// ran is what noting notes of all shards, and of merging.
func ran() []string {
	const shard = `3 [count][--label=a "b" $HOME 'c'][--shard]`
	return []string{shard + "[1/5]", shard + "[2/5]", shard + "[4/5]"}
}

func TestLocal(t *testing.T) {
	j, notes := noting(t)
	var out, errs bytes.Buffer
	if err := (Local{}).Run(t.Context(), j, &out, &errs); err != nil {
		t.Fatal(err, errs.String())
	}
	want := append(ran(), "3 [merge][fol der]")
	if got := notes(); !slices.Equal(got, want) {
		t.Errorf("%q\n%q", got, want)
	}
	// what it writes does the same
	var script bytes.Buffer
	if err := (Local{}).Write(&script, j); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMAXPROCS", "3") // which the script leaves to merge
	if got := read(t, "x; "+script.String()); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got := notes(); len(got) != 2*len(want) {
		t.Errorf("the script: %q", got)
	}
}

// A shard that fails is named, and nothing is merged; one that goes on is interrupted with the context.
func TestLocalFails(t *testing.T) {
	j, notes := noting(t)
	shell := `case "$2" in 2/5) echo broken >&2; exit 3;; esac; [ "$1" != --shard ] || echo "$2" >>` + text.Quote(filepath.Join(j.Logs, "..", "no'tes"))
	j.Command = []string{"sh", "-c", shell, "sh", "--shard"}
	var out, errs bytes.Buffer
	err := (Local{}).Run(t.Context(), j, &out, &errs)
	if err == nil || err.Error() != "shard 2/5: exit status 3" || errs.String() != "broken\n" {
		t.Errorf("%v, %s", err, &errs)
	}
	if got := notes(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	j.Command = []string{"sh", "-c", `trap 'exit 0' INT; while :; do sleep 0.05; done`, "sh"}
	started := time.Now()
	if err := (Local{}).Run(ctx, j, &out, &errs); !errors.Is(err, context.DeadlineExceeded) || time.Since(started) > grace {
		t.Errorf("%v after %v", err, time.Since(started))
	}
	j.Command = []string{filepath.Join(t.TempDir(), "nowhere")}
	if err := (Local{}).Run(t.Context(), j, &out, &errs); err == nil || !strings.HasPrefix(err.Error(), "shard 1/5: ") {
		t.Error(err)
	}
}

// sbatch of the test runs what is wrapped, for every task of the array, and names jobs 71, 72, …, with a cluster.
const sbatch = `
dir=$(dirname "$0")
count=$(cat "$dir/count" 2>/dev/null || echo 70)
count=$((count + 1)); echo $count >"$dir/count"
for word in "$@"; do
  printf '<%s>' "$word" >>"$dir/words"
  case $word in --array=*) array=${word#--array=} ;; --wrap=*) wrap=${word#--wrap=} ;; esac
done
echo >>"$dir/words"
for span in $(echo "${array:-1}" | tr , ' '); do
  for i in $(seq ${span%-*} ${span#*-}); do SLURM_ARRAY_TASK_ID=$i GOMAXPROCS=9 sh -c "$wrap" || exit; done
done
echo "$count;here"
`

func TestSlurm(t *testing.T) {
	for name, hand := range map[string]func(j *Job) error{
		"run": func(j *Job) error { return (Slurm{}).Run(t.Context(), j, new(bytes.Buffer), new(bytes.Buffer)) },
		"script": func(j *Job) error {
			var script bytes.Buffer
			if err := (Slurm{}).Write(&script, j); err != nil {
				return err
			}
			read(t, "x; "+script.String())
			return nil
		},
	} {
		j, notes := noting(t)
		put(t, batch, sbatch)
		if err := (Slurm{}).Check(j); err != nil {
			t.Fatal(err)
		}
		if err := hand(j); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := notes(), append(ran(), "9 [merge][fol der]"); !slices.Equal(got, want) {
			t.Errorf("%s: %q\n%q", name, got, want)
		}
		if _, err := os.Stat(j.Logs); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(strings.Split(os.Getenv("PATH"), string(os.PathListSeparator))[0], "words"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for _, want := range []string{"<--array=1-2,4>", "<--mem=954M>", "<--time=90>", "<--cpus-per-task=3>", "<--job-name=mafalda-count>",
			"/50%% of.logs/%A_%a.out>"} {
			if !strings.Contains(lines[0], want) {
				t.Errorf("%s: no %s in %s", name, want, lines[0])
			}
		}
		if !strings.Contains(lines[1], "<--dependency=afterany:71>") {
			t.Errorf("%s: %s", name, lines[1])
		}
	}
}

// The script finds the number of the array's job where it put it, whatever the folder is called.
func TestSlurmScriptNames(t *testing.T) {
	j, _ := noting(t)
	put(t, batch, sbatch)
	j.Logs = filepath.Join(t.TempDir(), "ARRAY.logs")
	var script bytes.Buffer
	if err := (Slurm{}).Write(&script, j); err != nil {
		t.Fatal(err)
	}
	read(t, "x; "+script.String())
	text, err := os.ReadFile(filepath.Join(strings.Split(os.Getenv("PATH"), string(os.PathListSeparator))[0], "words"))
	if err != nil {
		t.Fatal(err)
	}
	merge := strings.Split(string(text), "\n")[1]
	if !strings.Contains(merge, "<--dependency=afterany:71>") || !strings.Contains(merge, "<--output="+j.Logs+"/%j_merge.out>") {
		t.Error(merge)
	}
}

// Where all is there, only merging is handed in.
func TestSlurmComplete(t *testing.T) {
	j, notes := noting(t)
	put(t, batch, sbatch)
	j.Shards = nil
	var out bytes.Buffer
	if err := (Slurm{}).Run(t.Context(), j, &out, &out); err != nil || out.String() != "job 71: merges them when they have ended\n" {
		t.Errorf("%v, %s", err, &out)
	}
	if got := notes(); len(got) != 1 || !strings.Contains(got[0], "[merge]") {
		t.Errorf("%q", got)
	}
}

func TestSlurmRefuses(t *testing.T) {
	j, _ := noting(t)
	for want, script := range map[string]string{
		"sbatch: exit status 1: sbatch: error: Batch job submission failed: Invalid account": "echo 'sbatch: warning' >&2\n" +
			"echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1\n",
		`sbatch says "maybe", which is no number of a job`: "echo maybe\n",
	} {
		put(t, batch, script)
		if err := (Slurm{}).Run(t.Context(), j, new(bytes.Buffer), new(bytes.Buffer)); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := (Slurm{}).Run(t.Context(), j, new(bytes.Buffer), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), batch) {
		t.Error(err)
	}
}

// kubernetes is an engine that lacks nothing.
func kubernetes() Kubernetes { return Kubernetes{Image: "me/mafalda:1", Claim: "data", Mount: "/data"} }

func TestKubernetes(t *testing.T) {
	j, _ := noting(t)
	dir := t.TempDir()
	put(t, "kubectl", "echo \"$@\"; cat >"+text.Quote(filepath.Join(dir, "manifest"))+"\n")
	var shown, out bytes.Buffer
	k := kubernetes()
	if err := errors.Join(k.Check(j), k.Write(&shown, j), k.Run(t.Context(), j, &out, &out)); err != nil {
		t.Fatal(err)
	}
	given, err := os.ReadFile(filepath.Join(dir, "manifest"))
	if err != nil || string(given) != shown.String() || !strings.HasPrefix(out.String(), "create -f -\n") ||
		!strings.Contains(out.String(), "merge 'fol der'") {
		t.Errorf("%v, %s\n%s", err, &out, given)
	}
	for _, want := range []string{"completions: 3\n", "parallelism: 3\n", "completionMode: Indexed\n", `image: "me/mafalda:1"`,
		`"count", "--label=a \"b\" $$HOME 'c'", "--shard", "auto:1-2,4/5"]`, `limits: {memory: "954Mi"}`, "activeDeadlineSeconds: 5400\n"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("no %s in\n%s", want, &shown)
		}
	}
	shown.Reset()
	j.Shards = []int{1, 2, 3, 4, 5}
	if err := k.Write(&shown, j); err != nil || !strings.Contains(shown.String(), `"--shard", "auto/5"]`) {
		t.Errorf("%v\n%s", err, &shown)
	}
	shown.Reset()
	j.Shards = nil
	if err := k.Write(&shown, j); err != nil || shown.Len() > 0 {
		t.Errorf("%v, %s", err, &shown)
	}
	put(t, "kubectl", "echo refused >&2; exit 1\n")
	j.Shards = []int{1}
	if err := k.Run(t.Context(), j, &out, &out); err == nil || err.Error() != "kubectl: exit status 1: refused" {
		t.Error(err)
	}
}

// A manifest holds no character that YAML refuses, or takes for a break.
func TestScalar(t *testing.T) {
	for text, want := range map[string]string{"é 𝄞 $": `"é 𝄞 $"`, "a\u0085b\x7f\ufeff\u2028\x00": `"a\u0085b\u007f\ufeff\u2028\u0000"`} {
		if got := scalar(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestKubernetesRefuses(t *testing.T) {
	j, _ := noting(t)
	for field, change := range map[string]func(k *Kubernetes, j *Job){
		"Image":   func(k *Kubernetes, _ *Job) { k.Image = "" },
		"Claim":   func(k *Kubernetes, _ *Job) { k.Claim = "" },
		"Mount":   func(k *Kubernetes, _ *Job) { k.Mount = "data" },
		"Command": func(_ *Kubernetes, j *Job) { j.Command = []string{"mafalda", "\xff"} },
		"Name":    func(_ *Kubernetes, j *Job) { j.Name = "A" },
	} {
		k, other := kubernetes(), *j
		change(&k, &other)
		var a *fault.Argument
		if err := k.Check(&other); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
