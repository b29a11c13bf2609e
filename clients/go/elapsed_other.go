//go:build !linux

package tarry

import "time"

var started = time.Now()

func elapsed() time.Duration { return time.Since(started) }
