//go:build linux || darwin || freebsd

package tarry

import (
	"net"
	"syscall"
)

// isStale reports whether the server has closed a kept connection. The transport learns of it in
// another goroutine, perhaps too late: then a request is written, and its outcome is unknown.
func isStale(conn net.Conn) bool {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = over.NetConn()
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	stale := false
	err = control.Control(func(fd uintptr) {
		// Bytes that nobody asked for are a farewell too: of TLS, or of an HTTP server.
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		stale = err != syscall.EAGAIN && err != syscall.EINTR
	})
	return stale || err != nil
}
