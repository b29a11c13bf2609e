package tarry

import (
	"syscall"
	"time"
	"unsafe"
)

// elapsed is a clock that also goes on while the machine sleeps, as leases do. Go's own monotonic
// clock stands still meanwhile.
func elapsed() time.Duration {
	const clockBoottime = 7
	var now syscall.Timespec
	_, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime,
		uintptr(unsafe.Pointer(&now)), 0)
	if failed != 0 {
		return time.Since(started)
	}
	return time.Duration(now.Nano())
}

var started = time.Now()
