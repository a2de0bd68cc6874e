package commands

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"mafalda/cmd/internal/grids"
	"mafalda/study"
)

// A foreign folder has no program run and nothing written: merge refuses every command line that shards do not
// write down, before it runs any.
func TestMergeRunsNothingForeign(t *testing.T) {
	t.Parallel()
	evil, other := filepath.Join(t.TempDir(), "evil.sh"), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+evil+".ran\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	account := []string{"account", "--graph=cycle:4", "--T=3", "--attacker=all"}
	with := func(more ...string) []string { return append(account[:len(account):len(account)], more...) }
	for _, forged := range [][]string{
		append([]string{"submit", "--engine=local", "--shards=1", "--yes", "--program=" + evil, "--"}, with("-o", other)...),
		{"submit", "--engine=local", "--program", evil, "--yes"},
		with("--output=" + other), with("-o=" + other), with("-o", other), with("--force=true"), with("--force"),
		with("--cpuprofile=" + other), with("--memprofile=" + other), with("--shard=1/1"), with("--"), with("more"), with("-q"),
		with("--epsilon"), with("--task=linear"), with("--program=" + evil),
		{"optimize", "--graph=cycle:4", "--T=4", "--strategy per-node=true", "--checkpoint=" + other},
		{"merge", other}, {"average", "--graph=cycle:4", "-o=" + other}, {"help"}, {"account "}, {"--graph=x", "account"}, {},
	} {
		dir := filepath.Join(t.TempDir(), "grid")
		store, err := study.Open[int, float64](dir, study.Of("account"))
		if err == nil {
			err = errors.Join(store.Ask(t.Context(), forged, []int{1}), store.Put(t.Context(), 1, 0.5))
		}
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := mafalda("merge", dir)
		if code != 2 || out != "" || !strings.Contains(errs, "nothing is run") && !strings.Contains(errs, "it is not run") ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %s%s", forged, code, out, errs)
		}
		for _, made := range []string{evil + ".ran", other, filepath.Join(dir, "account.json")} {
			if _, err := os.Lstat(made); err == nil {
				t.Errorf("%v: there is a %s", forged, made)
			}
		}
	}
}

// Every flag of a command that computes in shards is one that its folder may hold, one that merge gives anew, or one that
// does not go together with --shard: no flag that writes anything is one that it may hold.
func TestEveryShardFlagIsDecided(t *testing.T) {
	t.Parallel()
	var commands []string
	writes := regexp.MustCompile(`\b(write|keep|replace) `)
	for _, cmd := range newRootCmd(new(grids.Runner)).Commands() {
		if cmd.Flags().Lookup("shard") == nil {
			continue
		}
		commands = append(commands, cmd.Name())
		cmd.Flags().VisitAll(func(fl *pflag.Flag) {
			_, err := grids.CheckRecorded(newRootCmd(new(grids.Runner)), []string{cmd.Name(), "--" + fl.Name + "=x"})
			never := fl.Hidden || writes.MatchString(fl.Usage) || slices.Contains([]string{"shard", "json", "verbose", "attack"}, fl.Name)
			if (err != nil) != never && fl.Name != "quiet" {
				t.Errorf("%s --%s: %v", cmd.Name(), fl.Name, err)
			}
		})
	}
	slices.Sort(commands)
	if want := []string{"account", "benchmark", "optimize", "simulate"}; !slices.Equal(commands, want) {
		t.Errorf("%v compute in shards, want %v", commands, want)
	}
}
