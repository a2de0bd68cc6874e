package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"mafalda/internal/fault"
)

func TestArgument(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{fault.New("Steps", 0, "must be %d or more", 1), "Steps 0: must be 1 or more"},
		{fault.New("Source", nil, "which network?"), "Source: which network?"},
		{fault.New("Directed", nil, "is for graphs from files"), "Directed is for graphs from files"},
		{fault.New("Resume", true, "[Resume] needs [Checkpoint], not [1]"), "Resume needs Checkpoint, not [1]"},
		{fault.Because("Start", errors.New("x is no export")), "x is no export"},
	} {
		if tc.err.Error() != tc.want {
			t.Errorf("%q, want %q", tc.err, tc.want)
		}
		var a *fault.Argument
		if err := fmt.Errorf("wrapped: %w", tc.err); !errors.As(err, &a) || a.Field == "" {
			t.Errorf("%v is not found in %v", tc.err, err)
		}
	}
}

func TestText(t *testing.T) {
	flag := func(field string) string { return "--" + strings.ToLower(field) }
	for _, tc := range []struct {
		err  error
		want string
	}{
		{fault.New("Steps", 0, "at least 1"), "--steps 0: at least 1"},
		{fault.New("Groups", 2, "[Each] or [Groups], not both"), "--each or --groups, not both"},
		{fault.Because("Start", io.EOF), "EOF"},
	} {
		var a *fault.Argument
		if !errors.As(tc.err, &a) || a.Text(flag) != tc.want {
			t.Errorf("%q, want %q", a.Text(flag), tc.want)
		}
	}
	if fault.Because("Start", nil) != nil || !errors.Is(fault.Because("Start", io.EOF), io.EOF) {
		t.Error("no error is one, or it is not unwrapped")
	}
}

// What stands in JSON is named as it is there.
func TestKeyed(t *testing.T) {
	for field, key := range map[string]string{"NoiseMultiplier": "noise_multiplier", "Steps": "steps", "RDP": "rdp",
		"Failure": "failure_probability", "T": "t"} {
		if got := fault.Key(field); got != key {
			t.Errorf("%s is %s, not %s", field, got, key)
		}
	}
	err := fmt.Errorf("workload_spec: %w", fault.New("LocalSteps", 0, "must be positive, as [GossipRounds] is"))
	if got := fault.Keyed(err); got != "workload_spec: local_steps 0: must be positive, as gossip_rounds is" {
		t.Error(got)
	}
	if got := fault.Keyed(errors.New("Some thing")); got != "Some thing" {
		t.Error(got)
	}
}
