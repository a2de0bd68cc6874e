// Command manifest reads the manifest of a Job from standard input as an API server does, strictly, with the types that
// Kubernetes publishes: no field that it does not know, none twice, no value of another type. It then checks what types
// do not say, and that the pods run the words that it is given.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = check(text, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(text []byte, words []string) error {
	var job, strict batch.Job
	if err := yaml.UnmarshalStrict(text, &job, yaml.DisallowUnknownFields); err != nil {
		return err
	}
	misspelt := strings.Replace(string(text), "completions:", "completion:", 1)
	if yaml.UnmarshalStrict([]byte(misspelt), &strict, yaml.DisallowUnknownFields) == nil {
		return fmt.Errorf("a field that there is not is read without an error")
	}
	spec := job.Spec
	pod := spec.Template.Spec
	if len(pod.Containers) != 1 || spec.Completions == nil || spec.Parallelism == nil || spec.CompletionMode == nil {
		return fmt.Errorf("no indexed job of one container: %+v", spec)
	}
	c := pod.Containers[0]
	for what, good := range map[string]bool{
		"apiVersion and kind": job.APIVersion == batch.SchemeGroupVersion.String() && job.Kind == "Job",
		"name":                job.Name == "" && strings.HasSuffix(job.GenerateName, "-"),
		"mode":                *spec.CompletionMode == batch.IndexedCompletion,
		"completions":         *spec.Completions > 0 && *spec.Parallelism <= *spec.Completions,
		"restartPolicy":       pod.RestartPolicy == core.RestartPolicyNever, // or OnFailure: a Job allows no other
		"deadline":            pod.ActiveDeadlineSeconds == nil || *pod.ActiveDeadlineSeconds > 0,
		"image":               c.Image != "" && c.WorkingDir != "",
		"cpu":                 c.Resources.Requests.Cpu().Sign() > 0,
		"memory":              c.Resources.Requests.Memory().Cmp(*c.Resources.Limits.Memory()) == 0,
		"volume": len(pod.Volumes) == 1 && len(c.VolumeMounts) == 1 && pod.Volumes[0].Name == c.VolumeMounts[0].Name &&
			pod.Volumes[0].PersistentVolumeClaim != nil && c.VolumeMounts[0].MountPath == c.WorkingDir,
	} {
		if !good {
			return fmt.Errorf("%s: %+v", what, job)
		}
	}
	var run []string
	for _, word := range c.Command {
		if strings.Contains(strings.ReplaceAll(word, "$$", ""), "$") {
			return fmt.Errorf("%q: a dollar that stands alone may be replaced", word)
		}
		run = append(run, strings.ReplaceAll(word, "$$", "$"))
	}
	if !slices.Equal(run, words) {
		return fmt.Errorf("pods run %q, not %q", run, words)
	}
	return nil
}
