//go:build !windows && (!unix || aix || solaris)

package study

import "os"

const nonblock = 0

// tryLock does nothing here: of summaries that are written at the same time, the last one stays.
func tryLock(*os.File) error { return nil }
