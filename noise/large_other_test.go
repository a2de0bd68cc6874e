//go:build !unix

package noise

import "time"

// processorTime returns a time that goes on.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
