package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"unicode/utf8"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/text"
)

// Kubernetes runs shards as the pods of an indexed Job. It knows no job that waits for another: who submits merges.
type Kubernetes struct {
	Image string // name of a container's image with the program
	Claim string // name of a persistent volume claim that all pods can write to, with the folder and the files of the command
	Mount string // folder where pods see the volume; paths of the command are relative to it
}

var _ Engine = Kubernetes{}

func (Kubernetes) Name() string { return "kubernetes" }

func (k Kubernetes) Check(j *Job) error {
	for _, field := range []struct{ name, value string }{{"Image", k.Image}, {"Claim", k.Claim}, {"Mount", k.Mount}} {
		if field.value == "" || !utf8.ValidString(field.value) {
			return fault.New(field.name, nil, "Kubernetes needs [%s]", field.name)
		}
	}
	if !strings.HasPrefix(k.Mount, "/") {
		return fault.New("Mount", k.Mount, "must be an absolute path")
	}
	for _, word := range append(j.Command, j.Merge...) {
		if !utf8.ValidString(word) {
			return fault.New("Command", word, "a manifest holds no bytes that are not UTF-8")
		}
	}
	return j.checkName()
}

// part returns the expression for a pod's shard: the pod's index, or, where shards are left out, the list's entry.
func (k Kubernetes) part(j *Job) string {
	if len(j.Shards) == j.Of {
		return j.part("auto")
	}
	return j.part("auto:" + Ranges(j.Shards))
}

// scalar returns text as YAML reads it back: a JSON string is one of its strings, if what YAML takes for breaks, or
// does not take at all, is escaped.
func scalar(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	var escaped strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		} else {
			escaped.WriteRune(r)
		}
	}
	return escaped.String()
}

// argument returns a word of a command as a manifest has it: $(NAME) would be replaced, and $$ stands for a dollar.
func argument(word string) string { return scalar(strings.ReplaceAll(word, "$", "$$")) }

// manifest returns the Job. Kubernetes chooses the end of its name, so that it can be handed in again.
func (k Kubernetes) manifest(j *Job) string {
	words := lists.Map(j.shardCommand(k.part(j)), argument)
	resources := "cpu: " + scalar(fmt.Sprint(j.Processors))
	limits := ""
	if j.Memory > 0 {
		memory := scalar(fmt.Sprintf("%dMi", j.megabytes()))
		resources += ", memory: " + memory
		limits = ", limits: {memory: " + memory + "}"
	}
	deadline := ""
	if j.Time > 0 {
		deadline = fmt.Sprintf("\n      activeDeadlineSeconds: %d", int(j.Time.Seconds()))
	}
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  generateName: %[1]s-
spec:
  completionMode: Indexed
  completions: %[2]d
  parallelism: %[2]d
  backoffLimit: %[2]d
  template:
    spec:
      restartPolicy: Never%[3]s
      containers:
      - name: shard
        image: %[4]s
        workingDir: %[5]s
        command: [%[6]s]
        env: [{name: %[7]s, value: "%[8]d"}]
        resources: {requests: {%[9]s}%[10]s}
        volumeMounts: [{name: folder, mountPath: %[5]s}]
      volumes: [{name: folder, persistentVolumeClaim: {claimName: %[11]s}}]
`, j.Name, len(j.Shards), deadline, scalar(k.Image), scalar(k.Mount), strings.Join(words, ", "), processors,
		j.Processors, resources, limits, scalar(k.Claim))
}

// Write writes the manifest; nothing where no shard is to run.
func (k Kubernetes) Write(w io.Writer, j *Job) error {
	if len(j.Shards) == 0 {
		return nil
	}
	_, err := io.WriteString(w, k.manifest(j))
	return err
}

func (k Kubernetes) Run(ctx context.Context, j *Job, w, complain io.Writer) error {
	if len(j.Shards) > 0 {
		var complaint strings.Builder
		cmd := exec.CommandContext(ctx, "kubectl", "create", "-f", "-")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(k.manifest(j)), w, &complaint
		if err := cmd.Run(); err != nil {
			return programError("kubectl", err, complaint.String())
		}
	}
	_, err := fmt.Fprintf(w, "when its pods have completed, where the volume is mounted: %s\n", text.Line(j.Merge...))
	return err
}
