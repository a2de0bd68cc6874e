package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	jobserver "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/cmd/mafalda-beam/engine"
	"mafalda/optim"
)

// The test is also the program that pools start.
func TestMain(m *testing.M) {
	optim.UseKernels()
	for _, a := range os.Args[1:] {
		switch a {
		case "--worker":
			beamlog.LogLevel = "error"
			work()
			return
		case "workers":
			go terminal.EndOnSignals()
			os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
		}
	}
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// mafaldaBeam runs a command line, as a process would that has run nothing before.
func mafaldaBeam(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, name := range []string{"endpoint", "environment_type", "environment_config", "worker_binary"} {
		if err := flag.Set(name, ""); err != nil {
			t.Fatal(err)
		}
	}
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// mafalda runs the same command on its own.
func mafalda(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := &cobra.Command{Use: "mafalda", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(engine.Commands(&grids.Runner{Words: args})...)
	var out, err bytes.Buffer
	code = terminal.Run(t.Context(), root, args, &out, &err, flags.Explain)
	return code, out.String(), err.String()
}

// contents returns the files of a folder and below by their names, without times.
func contents(t *testing.T, dir string, timed bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		all[name] = string(content)
		if timed {
			all[name] = regexp.MustCompile(`"(seconds|seconds_per_run|sha256)": ?[0-9a-f.e"-]+`).ReplaceAllString(all[name], "")
			if strings.HasSuffix(name, ".csv") {
				all[name] = "" // its numbers are in the JSON
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameFolders(t *testing.T, what, one, other string, timed bool) {
	t.Helper()
	want, got := contents(t, one, timed), contents(t, other, timed)
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: %s is another one", what, name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d files, %d of one machine", what, len(got), len(want))
	}
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The commands print and write what they do on one machine, byte for byte but for times.
func TestSameAsLocal(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"in/g.edges": "a b\nb c\nc d\nd a\na c\n", "in/when": "0 2 4\n1 3\n",
		"in/rates": "1\n0.5\n0.5\n0.1\n"})
	for _, test := range []struct {
		command string
		timed   bool
	}{
		{"account --graph in/g.edges --T 5 --attacker all --schema in/when", false},
		{"account --graph cycle:5 --attacker 0 --growth 5,10,20", false},
		{"simulate --graph in/g.edges --T 4 -k 2 --mu 1,2 --seeds 2 --methods none,dp-d-sgd,mafalda " +
			"--learning-rates in/rates", true},
		{"benchmark --graph path:3 --only --T 4 -k 2 --epsilon 1", true},
		{"benchmark --workloads --graph in/g.edges --only --T 8 -k 2", true},
	} {
		args := strings.Fields(test.command)
		code, want, errs := mafalda(t, append(args, "-o", "one")...)
		if code != 0 {
			t.Fatal(test.command, errs)
		}
		code, got, gotErrs := mafaldaBeam(t, append(args, "-o", "many")...)
		cost := regexp.MustCompile(`(?m)^cost .*$`)
		got, want = cost.ReplaceAllString(strings.ReplaceAll(got, "many", "one"), ""), cost.ReplaceAllString(want, "")
		if code != 0 || got != want || gotErrs != prismWarning+errs {
			t.Errorf("%s: code %d\n%s%s\nwant %s%s", test.command, code, got, gotErrs, want, errs)
		}
		sameFolders(t, test.command, "one", "many", test.timed)
		for _, dir := range []string{"one", "many"} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Processes of a pool, in another folder, do the work that a Prism of its own deals out: all bytes come over the
// network.
func TestPool(t *testing.T) {
	port := freePort(t)
	if _, err := jobserver.CreateJobServer(t.Context(), jobserver.Options{Port: port}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var says bytes.Buffer
	address := fmt.Sprintf("localhost:%d", freePort(t))
	pool := exec.CommandContext(t.Context(), self, "workers", "--listen", address)
	pool.Dir, pool.Stdout, pool.Stderr = t.TempDir(), &says, &says
	if err := pool.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, address)
	t.Chdir(t.TempDir())
	write(t, map[string]string{"g.edges": "a b\nb c\nc d\nd e\ne a\na c\n"})
	args := []string{"account", "--graph", "g.edges", "--T", "6", "--attacker", "all"}
	if code, _, errs := mafalda(t, append(args, "-o", "one")...); code != 0 {
		t.Fatal(errs)
	}
	code, out, errs := mafaldaBeam(t, append(args, "-o", "many", "--runner", "universal", "--endpoint",
		fmt.Sprintf("localhost:%d", port), "--workers", address, "--jobs", "3")...)
	if code != 0 || !strings.Contains(out, "many") {
		t.Fatalf("code %d, %s%s\n%s", code, out, errs, says.String())
	}
	sameFolders(t, "a pool", "one", "many", false)
	if err := pool.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := pool.Wait(); err == nil || pool.ProcessState.ExitCode() != terminal.ExitInterrupted {
		t.Errorf("%v\n%s", err, says.String())
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func waitFor(t *testing.T, address string) {
	t.Helper()
	for range 2000 {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody listens on %s", address)
}

// Wrong flags are one clear line.
func TestRefuses(t *testing.T) {
	account := []string{"account", "--graph", "cycle:4", "--T", "3", "--attacker", "all"}
	with := func(more ...string) []string { return append(account[:len(account):len(account)], more...) }
	for name, test := range map[string]struct {
		args []string
		say  string
	}{
		"a runner":        {with("--runner", "samza"), "must be one of prism"},
		"no endpoint":     {with("--runner", "flink"), "needs --endpoint"},
		"jobs":            {with("--jobs", "2"), "--jobs is for a runner with --endpoint"},
		"no jobs":         {with("--jobs", "0"), "at least 1"},
		"an address":      {with("--address", "here"), "host:port"},
		"no host":         {with("--address", ":8000"), "host:port"},
		"no runner there": {with("--endpoint", "127.0.0.1:1"), "--endpoint: nobody is there"},
		"no workers":      {with("--workers", "127.0.0.1:1"), "--workers: nobody is there"},
		"every address":   {with("--address", "0.0.0.0:0"), "must be an address of this machine"},
		"and of IPv6":     {with("--address", "[::]:0"), "must be an address of this machine"},
		"not this host's": {with("--address", "192.0.2.1:0"), "no place for workers"},
		"a shard":         {with("--shard", "1/2", "-o", "x"), "--shard is for machines"},
		"Beam's options":  {with("--", "--paralelism=3"), "flag provided but not defined"},
		"an argument":     {with("--", "x"), "unknown argument"},
		"two places": {with("--endpoint", "a:1", "--workers", "b:2", "--", "--environment_type=DOCKER"),
			"only one of them"},
		"a graph": {[]string{"account", "--graph", "nowhere", "--T", "3", "--attacker", "all"},
			"neither a file nor one of"},
	} {
		code, out, errs := mafaldaBeam(t, test.args...)
		errs = strings.TrimPrefix(errs, prismWarning)
		if code != 2 || out != "" || !strings.Contains(errs, test.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
	}
}

// A thousand cells that cost nothing: all of them arrive, and what one costs is logged (under a millisecond).
func TestOverhead(t *testing.T) {
	cells := 1000
	if testing.Short() {
		cells = 200
	}
	begin := time.Now()
	code, out, errs := mafaldaBeam(t, "simulate", "--graph", "cycle:3", "--T", "2", "-k", "1", "--task", "records=10",
		"--methods", "none", "--seeds", fmt.Sprint(cells), "--json")
	took := time.Since(begin) / time.Duration(cells)
	var result struct{ Rows []struct{ Seeds int } }
	if err := json.Unmarshal([]byte(out), &result); code != 0 || err != nil || result.Rows[0].Seeds != cells {
		t.Fatalf("code %d, %v, %s%s", code, err, out, errs)
	}
	t.Logf("%v a cell", took)
}
