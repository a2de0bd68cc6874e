package fault_test

import (
	"errors"
	"fmt"
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
