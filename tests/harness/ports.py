"""Ports for servers that tests start, and start again after a crash."""

import fcntl
import functools
import os
import random
import socket
import tempfile
from pathlib import Path

LEAST = 10_000
LOCAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_given = set()


@functools.cache
def _locks():
    """A file of which each process locks the bytes of its ports until it ends."""
    return os.open(Path(tempfile.gettempdir()) / f"tarry-ports-{os.getuid()}",
                   os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_ours(port):
    """False if another test was given the port: its server may not listen yet, or not now."""
    if port in _given:
        return False
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    _given.add(port)
    return True


def free_port():
    """A free port of 127.0.0.1 outside the range from which the system gives ports to clients.
    Otherwise, while the server is down, a client that connects to this port could get it as its own
    port, and be connected to itself."""
    above = int(LOCAL_RANGE.read_text(encoding="ascii").split()[0])
    for _ in range(1000):
        port = random.SystemRandom().randrange(LEAST, above) if above > LEAST else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            port = probe.getsockname()[1]
        if _is_ours(port):
            return port
    raise OSError("no free port")
