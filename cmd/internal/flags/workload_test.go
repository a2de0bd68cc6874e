package flags

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/workload"
)

// trainCommand is a command with all flags of what is trained, and what they say after a run.
func trainCommand(args ...string) (workload.Spec, string, error) {
	var f struct {
		training WorkloadFlags
		network  NetworkFlags
	}
	var spec workload.Spec
	var help bytes.Buffer
	cmd := newCommand("train\n\nFlags:\nuse  workload  training\nuse  sequence  network\n", &f, func(cmd *cobra.Command, _ []string) (err error) {
		spec, err = f.training.Spec(cmd)
		return err
	})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&help)
	terminal.WrapHelp(cmd, &help)
	err := cmd.Execute()
	return spec, help.String(), err
}

func TestWorkloadFlags(t *testing.T) {
	rates := filepath.Join(t.TempDir(), "rates.txt")
	if err := os.WriteFile(rates, []byte("1\n0.5\n0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]string{
		"model":   "",
		"message": "--workload message --optimizer local:1 --optimizer rounds:1 --learning-rates constant --optimizer momentum:0",
		`{"kind":"model","weights":"last:5","learning_rates":"warmup-cosine:0.2","momentum":0.9,"nesterov":true,` +
			`"weight_decay":0.01,"local_steps":4,"gossip_rounds":2}`: "--average-last 5 --learning-rates " +
			"warmup-cosine:0.2 --optimizer momentum:0.9 --optimizer nesterov --optimizer decay:0.01 --optimizer local:4 --optimizer rounds:2",
		`{"kind":"model","learning_rates":[1,0.5,0],"gradient_tracking":true}`: "--optimizer tracking --learning-rates " +
			rates,
		`{"kind":"model","node_failures":0.1,"link_failures":0.2,"missed_steps":0.3,"carry":true}`: "--graph-changes failures:" +
			"0.1 --graph-changes links:0.2 --missed-steps 0.3 --missed-steps carry",
		`{"kind":"model","random_neighbours":3}`: "--graph-changes neighbours:3",
	} {
		got, _, err := trainCommand(strings.Fields(args)...)
		if err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; want %s", args, got, err, want)
		}
	}
}

// What stands for a default in the library is refused where it is given, and names are suggested.
func TestBadWorkloadFlags(t *testing.T) {
	for args, say := range map[string]string{
		"--learning-rates cosin":       "neither a file nor one of constant, cosine, warmup-cosine[:fraction], step:factor,from[,from…]; did you mean cosine?",
		"--learning-rates warmup:0.1":  "did you mean warmup-cosine?",
		"--learning-rates xyz123":      "step:factor,from[,from…]",
		"--learning-rates step:0.1":    "from which step on?",
		"--learning-rates .":           "is a folder",
		"--workload models":            "--workload models: choose",
		"--optimizer local:0":          "--optimizer local 0: must be at least 1",
		"--optimizer rounds:0":         "--optimizer rounds 0: must be at least 1",
		"--graph-changes neighbours:0": "--graph-changes neighbours 0: must be at least 1",
		"--average-last 0":             "--average-last 0: must be at least 1",
	} {
		if _, _, err := trainCommand(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", args, err, say)
		}
	}
}

// Help has the flags under headings.
func TestFlagsInGroups(t *testing.T) {
	_, help, err := trainCommand("--help")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"Usage:", "\nFlags:", "--help", "\nWhat is trained:", "--graph-changes", "failures:float",
		"--missed-steps", "--optimizer", "momentum:float"} {
		next := strings.Index(help[at:], want)
		if next < 0 {
			t.Fatalf("no %q after the first %d bytes of\n%s", want, at, help)
		}
		at += next
	}
}

func TestWorkloadFacts(t *testing.T) {
	if facts := WorkloadFacts(workload.Spec{Kind: workload.Message}); len(facts) != 0 {
		t.Errorf("plain: %q", facts)
	}
	s, _, err := trainCommand(strings.Fields("--optimizer momentum:0.9 --optimizer nesterov --learning-rates cosine --graph-changes failures:0.1 " +
		"--missed-steps 0.2 --average-last 3")...)
	d := document.New("", "")
	for _, f := range WorkloadFacts(s) {
		d.Fact(f.Name, "%s", f.Value)
	}
	var text strings.Builder
	if err := d.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"optimizer      momentum 0.9 (Nesterov), rates cosine", "changes        nodes fail with " +
		"probability 0.1", "rows of noise lost", "counted        steps last:3"} {
		if err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s\n%v", want, &text, err)
		}
	}
}
